import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import type { Stored } from '../../../stores/port/collection';
import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';
import { creates, makeSubjects } from '../idempotency/creates';
import { aPerson, aWorkspace, type Person } from '../identity/people';
import { connectionTo } from '../permissions/connection';
import { type Operation, operationsOf, requestOf } from '../permissions/operations';
import { whatIsStored } from '../permissions/what-is-stored';

/** Whatever is made in alpha has this in its texts, wherever its contract takes any. */
const mark = 'nce-of-alpha';

let board: ApiUnderTest;
/** An administrator of each of two workspaces, and others of the second one. */
let alpha: Person;
let beta: Person;
let others: Person[];
let document: OpenApiDocument;
let operations: Operation[];
let taskId: string;
/** The ids of what was made in alpha, by the path that made it. */
const made = new Map<string, string>();

beforeAll(async () => {
  board = await startWholeTestApi({ RATE_LIMIT_ARTIFACTS: '0' });
  [alpha, beta] = [await aWorkspace(board, 'Alpha'), await aWorkspace(board, 'Beta')];
  others = [
    await aPerson(board, 'agent', { workspaceId: beta.workspaceId }),
    await aPerson(board, 'read-only', { workspaceId: beta.workspaceId }),
  ];
  document = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
  // Public ones read no record of a workspace; some ask Temporal first, which is not here, or write to see whether that works.
  operations = operationsOf(document).filter(
    ({ permission, tag, method, template }) =>
      permission !== undefined &&
      tag !== 'health' &&
      !/\/maintenance\/(?:summary|debug-bundle)$/.test(template) &&
      !(method === 'POST' && /\/worktree|\/retention\//.test(template)),
  );
  const subjects = await makeSubjects(board, `O${mark}`, alpha.key);
  taskId = subjects.taskId;
  for (const create of Object.values(creates)) {
    const [path, body] = create(subjects);
    const marked = JSON.parse(JSON.stringify(body).replaceAll('nce', mark)) as object;
    const reply = await board.call('POST', path, { body: marked, key: alpha.key });
    const id: unknown = reply.body.id ?? reply.body.messageId ?? reply.body.role ?? reply.body.agentId;
    if (reply.status < 300 && typeof id === 'string') {
      made.set(path, id);
    }
  }
});
afterAll(() => board.close());

/** The ids of alpha's records that the path of an operation names. */
function idsOfAlpha({ template }: Operation): Record<string, string> {
  const last = [...made].filter(([path]) => template.replace('{taskId}', taskId).startsWith(`${path}/{`));
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const own = last.map(([path, id]) => {
    const rest = template.replace('{taskId}', taskId).slice(path.length);
    return [/\{(\w+)\}/.exec(rest)?.[1] ?? '', id] as const;
  });
  return { ...(names.includes('taskId') ? { taskId } : {}), ...Object.fromEntries(own) };
}

/** The tables and files of a workspace. */
async function storedIn(workspaceId: string): Promise<Record<string, string>> {
  const all = Object.entries(await whatIsStored(board.api.context));
  const isOf = (name: string) => name.startsWith(`${workspaceId}-`) || name.includes(`/${workspaceId}`);
  const isOther = (name: string) => /(?:^|\/)ws-/.test(name) || sharedTables.includes(name);
  return Object.fromEntries(all.filter(([name]) => (workspaceId === 'local' ? !isOther(name) : isOf(name))));
}

const connectionOf = ({ key }: Person) => connectionTo(board.url, { 'X-API-Key': key });

/** What names the workspaces that a record of people or credentials is of. */
interface Shared extends Stored {
  workspaceId?: string;
  workspaceIds?: string[];
}

/** Records of people and credentials are the installation's: those that are not of this workspace. */
const sharedTables = ['users', 'workspaces', 'api-tokens', 'invitations', 'pairing-codes', 'device-sessions'];
async function sharedBesides(workspaceId: string): Promise<Record<string, unknown[]>> {
  const found = await Promise.all(
    sharedTables.map(async (name) => {
      const collection = await board.api.context.database.collection<Shared>({ name });
      const all = await collection.find({ _id: { $gt: '' } }, { sort: { _id: 1 } });
      return [
        name,
        all.filter((one) => ![one._id, one.workspaceId, one.workspaceIds?.join()].includes(workspaceId)),
      ] as const;
    }),
  );
  return Object.fromEntries(found);
}

describe('two workspaces', () => {
  it('have what the test needs: records of many kinds in alpha, which alpha reads', async () => {
    expect(made.size).toBeGreaterThanOrEqual(25);
    const read = operations.filter((one) => one.method === 'GET' && Object.keys(idsOfAlpha(one)).length > 0);
    const found: string[] = [];
    const connection = connectionOf(alpha);
    for (const operation of read) {
      const { status, body } = await connection.send(requestOf(operation, document, idsOfAlpha(operation)));
      if (status === 200 && JSON.stringify(body).includes(mark)) {
        found.push(operation.name);
      }
    }
    connection.close();
    expect(found.length).toBeGreaterThan(15);
    expect(Object.keys(await storedIn(alpha.workspaceId)).length).toBeGreaterThan(50);
  });

  it('share nothing: every operation with the ids of one shows and changes nothing of it to the other', async () => {
    const stored = async () => ({
      alpha: await storedIn(alpha.workspaceId),
      local: await storedIn('local'),
      shared: await sharedBesides(beta.workspaceId),
    });
    const before = await stored();
    const connection = connectionOf(beta);
    const leaked: string[] = [];
    const named = new Set<string>();
    // Lists come first, before the caller has named anything; what deletes comes last.
    const rank = ({ method, template }: Operation) =>
      Number(method === 'DELETE') * 2 + Number(method !== 'GET') + Number(template.includes('{'));
    for (const operation of [...operations].sort((a, b) => rank(a) - rank(b))) {
      const ids = idsOfAlpha(operation);
      Object.values(ids).forEach((id) => named.add(id));
      const { status, body } = await connection.send(requestOf(operation, document, ids));
      // What the caller has named itself may come back, in the response or in its own audit log.
      const text = [...named].reduce((rest, id) => rest.replaceAll(id, ''), JSON.stringify(body ?? ''));
      const shown = [...made.values(), taskId].filter((id) => text.includes(id));
      const isShown = status < 300 && (text.includes(mark) || shown.length > 0);
      // There is no Temporal here: what asks it first is refused before anything is written.
      const isAway = status === 503 && (body as { code?: string }).code === 'TEMPORAL_UNAVAILABLE';
      if (isShown || (status >= 500 && !isAway)) {
        leaked.push(`${operation.name}: ${status} ${text.slice(0, 200)}`);
      }
    }
    connection.close();
    expect(leaked).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  it('answer 404 to the ids of the other wherever their own records are read', async () => {
    const connection = connectionOf(beta);
    const answered: string[] = [];
    for (const operation of operations.filter(({ method, template }) => method === 'GET' && template.includes('{'))) {
      const ids = idsOfAlpha(operation);
      if (Object.keys(ids).length === 0) {
        continue;
      }
      const { status, body } = await connection.send(requestOf(operation, document, ids));
      const shown = Object.values(ids).reduce((rest, id) => rest.replaceAll(id, ''), JSON.stringify(body));
      const isEmpty = status === 200 && !shown.includes(mark);
      if (!isEmpty && ![400, 403, 404, 409].includes(status)) {
        answered.push(`${operation.name}: ${status}`);
      }
    }
    connection.close();
    expect(answered).toEqual([]);
  });

  it('list nothing of the other to whomever of them asks', async () => {
    const lists = operations.filter(({ method, template }) => method === 'GET' && !template.includes('{'));
    for (const caller of others) {
      const connection = connectionOf(caller);
      const shown: string[] = [];
      for (const operation of lists) {
        const { body } = await connection.send(requestOf(operation, document, {}));
        const text = JSON.stringify(body ?? '');
        // The shared ids and names of the requests of the administrator above are its own by now.
        if (text.includes(taskId) || text.includes(`O${mark}`) || text.includes(alpha.userId)) {
          shown.push(`${operation.name}: ${text.slice(0, 200)}`);
        }
      }
      connection.close();
      expect(shown).toEqual([]);
    }
  });
});
