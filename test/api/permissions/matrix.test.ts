import { isDeepStrictEqual } from 'node:util';
import { closeCodes } from '../../../api/system/feed/watcher';
import { type Role, rolePermissions } from '../../../contracts/permissions';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { eventually } from '../../../platform/testing/eventually';
import { type TestTemporal, testTemporal } from '../../support/stack/temporal';
import { TestWatcher } from '../../support/watcher';
import { adminKey, agentKey, type ApiUnderTest, readKey, startWholeTestApi } from '../api-under-test';
import { removedMember, revokedDevice, signedInAdmin } from './callers';
import { connectionTo, type Reply } from './connection';
import { expectedAnswer, furtherPermissions, handlePermissions, otherProofs } from './expected-answer';
import { type Operation, operationsOf, requestOf } from './operations';
import { whatIsStored } from './what-is-stored';

type Headers = Record<string, string>;

/** A caller, and the role that what it presents proves. */
interface Credential {
  name: string;
  headers: Headers | ((board: ApiUnderTest) => Promise<Headers>);
  role: Role | undefined;
  /** Another way to be such a caller: who calls is decided before the operation, so that one operation of each kind shows it. */
  sampled?: true;
}

/** Callers that reach this machine, but not as themselves. */
const indirect: Credential[] = [
  { name: 'another Host', headers: { Host: 'board.attacker.example' }, role: undefined },
  { name: 'a Host of this machine at another port', headers: { Host: 'localhost:1' }, role: undefined, sampled: true },
  { name: 'a proxy in between', headers: { 'X-Forwarded-For': '127.0.0.1' }, role: undefined, sampled: true },
  {
    name: 'a proxy that adds its own header',
    headers: { 'CF-Connecting-IP': '127.0.0.1' },
    role: undefined,
    sampled: true,
  },
];
const direct: Credential = { name: 'nothing but the Host of this machine', headers: {}, role: 'admin', sampled: true };

const boards: { settings: Record<string, string>; title: string; credentials: Credential[] }[] = [
  {
    title: 'with keys',
    settings: {},
    credentials: [
      { name: 'no key', headers: {}, role: undefined },
      { name: 'a wrong key', headers: { 'X-API-Key': `${adminKey}x` }, role: undefined },
      { name: 'a wrong bearer token', headers: { Authorization: 'Bearer nothing' }, role: undefined, sampled: true },
      { name: 'the token of a removed member', headers: removedMember, role: undefined },
      { name: 'the token of a revoked device', headers: revokedDevice, role: undefined },
      { name: 'the cookie of an expired session', headers: (board) => signedInAdmin(board, -1_000), role: undefined },
      { name: 'a read-only key', headers: { 'X-API-Key': readKey }, role: 'read-only' },
      { name: 'an agent key', headers: { 'X-API-Key': agentKey }, role: 'agent' },
      { name: 'the administrator’s key', headers: { Authorization: `Bearer ${adminKey}` }, role: 'admin' },
    ],
  },
  {
    title: 'with the bypass for local callers',
    settings: { BOARD_AUTH_LOCALHOST_BYPASS: 'true', BOARD_AUTH_LOCALHOST_ROLE: 'admin' },
    credentials: [
      ...indirect,
      { name: 'a wrong key', headers: { 'X-API-Key': 'nothing' }, role: undefined, sampled: true },
      { name: 'a read-only key', headers: { 'X-API-Key': readKey }, role: 'read-only', sampled: true },
      direct,
    ],
  },
  {
    title: 'without authentication',
    settings: { BOARD_AUTH_ENABLED: 'false' },
    credentials: [...indirect, direct],
  },
];

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await testTemporal();
});
afterAll(() => temporal.close());

const pending = (): never => {
  throw new Error('neither closed nor subscribed yet');
};

interface Refusal {
  error?: unknown;
  code?: unknown;
  details?: { required?: unknown };
}

/** What is wrong with a response; undefined when it is as it must be. */
function mismatch(operation: Operation, role: Role | undefined, { status, body }: Reply): string | undefined {
  const expected = expectedAnswer(operation, role);
  const actual = `${operation.name}: ${status} ${JSON.stringify(body).slice(0, 200)}`;
  const { error, code, details } = (body ?? {}) as Refusal;
  if (expected !== 'permitted') {
    const isEnvelope = typeof error === 'string' && typeof details === 'object';
    return status === expected.status && code === expected.code && isEnvelope ? undefined : actual;
  }
  if (otherProofs[operation.name]?.includes(String(code)) === true) {
    return undefined;
  }
  const further = furtherPermissions[operation.name]?.permission;
  if (status === 403 && further !== undefined && role !== undefined && !rolePermissions[role].includes(further)) {
    return isDeepStrictEqual(details?.required, [further]) ? undefined : actual;
  }
  return status === 401 || status === 403 || status >= 500 ? actual : undefined;
}

describe.each(boards)('an API $title', ({ title, settings, credentials }) => {
  let board: ApiUnderTest;
  let document: OpenApiDocument;
  let operations: Operation[];
  let taskId: string;
  const headersByName = new Map<string, Headers>();
  const headersOf = ({ name }: Credential): Headers => headersByName.get(name) ?? {};

  beforeAll(async () => {
    board = await startWholeTestApi({ ...settings, RATE_LIMIT_ARTIFACTS: '0' }, temporal.client);
    document = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
    operations = operationsOf(document);
    taskId = (await board.call('POST', '/api/tasks', { body: { title: 'Kept' } })).body.id as string;
    for (const { name, headers } of credentials) {
      headersByName.set(name, typeof headers === 'function' ? await headers(board) : headers);
    }
  });
  afterAll(() => board.close());

  /** Operations on worktrees, dry runs and what is asked of adapters wait for a worker, and there is none: for these the id is malformed. */
  const idsFor = ({ template }: Operation) => ({
    taskId: template.includes('/worktree') ? 'not a task' : taskId,
    ...(template.includes('/retention/') ? { kind: 'everything' } : {}),
    ...(/\/communication\/.*\/(?:test|poll|definitions)$/.test(template) ? { adapterId: 'not an id' } : {}),
  });

  /** The first operation of each kind of resource and method, for a caller that is sampled. */
  function calledBy({ sampled }: Credential, all: Operation[]): Operation[] {
    const kinds = new Map(all.map((operation) => [`${operation.tag} ${operation.method}`, operation]));
    return sampled ? [...kinds.values()] : all;
  }

  /** Calls these operations as this caller. */
  async function callAll(caller: Credential, called: Operation[]): Promise<(string | undefined)[]> {
    const connection = connectionTo(board.url, headersOf(caller));
    const mismatches: (string | undefined)[] = [];
    for (const operation of calledBy(caller, called)) {
      const reply = await connection.send(requestOf(operation, document, idsFor(operation)));
      mismatches.push(mismatch(operation, caller.role, reply));
    }
    connection.close();
    return mismatches.filter((text) => text !== undefined);
  }

  it('describes every operation', () => {
    expect(operations.length).toBeGreaterThanOrEqual(340);
  });

  it('notices what is changed', async () => {
    const before = await whatIsStored(board.api.context);
    await board.call('PATCH', `/api/tasks/${taskId}`, { body: { description: 'changed' } });
    expect(await whatIsStored(board.api.context)).not.toEqual(before);
  });

  it.each(credentials)('refuses $name whatever it may not do, and changes nothing', async (caller) => {
    const refused = operations.filter((operation) => expectedAnswer(operation, caller.role) !== 'permitted');
    const before = await whatIsStored(board.api.context);
    expect(await callAll(caller, refused)).toEqual([]);
    expect(await whatIsStored(board.api.context)).toEqual(before);
  });

  it.each(credentials)('answers $name whatever it may do', async (caller) => {
    const permitted = operations.filter((operation) => expectedAnswer(operation, caller.role) === 'permitted');
    // What deletes comes last: there is something to do for everything before.
    const inOrder = [...permitted].sort((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
    expect(await callAll(caller, inOrder)).toEqual([]);
  });

  /** Those of the operations that are answered with anything but a refusal of this code. */
  async function notRefused(headers: Headers, called: Operation[], refusal: string): Promise<string[]> {
    const connection = connectionTo(board.url, headers);
    const answered: string[] = [];
    for (const operation of called) {
      const { status, body } = await connection.send(requestOf(operation, document, idsFor(operation)));
      if (status !== 403 || (body as Refusal).code !== refusal) {
        answered.push(`${operation.name}: ${status}`);
      }
    }
    connection.close();
    return answered;
  }

  const strongest = credentials.filter(({ role }) => role === 'admin');
  it.each(strongest)('refuses pages elsewhere whatever they ask for with $name', async (caller) => {
    const called = calledBy({ ...caller, sampled: true }, operations);
    expect(await notRefused({ ...headersOf(caller), 'Sec-Fetch-Site': 'cross-site' }, called, 'CORS_REJECTED')).toEqual(
      [],
    );
  });

  if (title === 'with keys') {
    it('refuses pages elsewhere, and changes for pages that are not named, whatever the cookie of a session may do', async () => {
      const cookie = await signedInAdmin(board);
      const foreign = { ...cookie, Origin: 'https://attacker.example' };
      expect(await notRefused(foreign, operations, 'CORS_REJECTED')).toEqual([]);
      const writes = operations.filter(
        ({ method, permission }) => method !== 'GET' && !handlePermissions.includes(permission),
      );
      expect(await notRefused(cookie, writes, 'CSRF_REJECTED')).toEqual([]);
    });
  }

  it.each(credentials)('lets $name watch only if it may read tasks', async (caller) => {
    const watcher = await TestWatcher.open(board.url, { headers: headersOf(caller) });
    watcher.send({ type: 'subscribe:tasks' });
    const outcome = await eventually(
      () => watcher.closed?.code ?? watcher.of('tasks:subscribed')[0]?.type ?? pending(),
    );
    watcher.close();
    expect(outcome).toBe(caller.role === undefined ? closeCodes.notAuthenticated : 'tasks:subscribed');
  });
});
