import fc from 'fast-check';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { adminKey, type ApiUnderTest, startWholeTestApi } from '../api-under-test';
import { creates, makeSubjects } from '../idempotency/creates';
import { type CallerConnection, connectionTo } from '../permissions/connection';
import { type Operation, operationsOf, requestOf } from '../permissions/operations';
import { almostValid } from './hostile-values';

let board: ApiUnderTest;
let document: OpenApiDocument;
let operations: Operation[];
/** Changes that take no body. */
let bodiless: Operation[];
let connection: CallerConnection;
let taskId: string;
/** The ids of records that exist, by the path that made each. */
const made = new Map<string, string>();

/** Operations that refuse before they read a body, take it as it is, or report on it. */
const others = new Set([
  'POST /api/run-children',
  'POST /api/run-children/{attemptId}/stop',
  'POST /api/run-tool-bridge/call',
  'POST /api/run-tool-bridge/mcp',
  'POST /api/github/webhooks/{repo}',
  'POST /api/workspaces/{workspaceId}/github/webhooks/{repo}',
  'POST /api/workspace-capabilities/manifest/validate',
  'POST /api/config/team-roster/validate',
  'POST /api/conflicts/{taskId}/resolve',
  'POST /mcp',
]);

/** Operations whose example names records, repositories, files or moments that only a board of its own has. */
const ofItsOwnBoard = new Set([
  'POST /api/conflicts/{taskId}/resolve',
  'POST /api/goals',
  'POST /api/decisions/reviews/{id}/responses',
  'POST /api/decisions/reviews/{id}/critiques',
  'PUT /api/github/sync/config',
  'POST /api/github/sync',
  'PATCH /api/decisions/{id}/assumptions/{idx}',
  'POST /api/delegation',
  'POST /api/identity/invitations/accept',
  'POST /api/reflections/{id}/merge',
  'POST /api/skills/security/inventory/{skillId}/exceptions',
  'POST /api/config/repos',
  'POST /api/projects/reorder',
  'POST /api/sprints/reorder',
  'POST /api/task-types/reorder',
  'PUT /api/agents/routing',
  'POST /api/tasks/bulk-archive',
]);

beforeAll(async () => {
  board = await startWholeTestApi({ RATE_LIMIT_ARTIFACTS: '0' });
  document = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
  const subjects = await makeSubjects(board, 'target');
  taskId = subjects.taskId;
  for (const create of Object.values(creates)) {
    const [path, body] = create(subjects);
    const reply = await board.call('POST', path, { body });
    if (reply.status < 300 && typeof reply.body.id === 'string') {
      made.set(path, reply.body.id as string);
    }
  }
  connection = connectionTo(board.url, { 'X-API-Key': adminKey });
  const all = operationsOf(document).filter(({ tag }) => tag !== 'auth');
  operations = all.filter(({ body, contentType }) => body !== undefined && contentType === 'application/json');
  bodiless = all.filter(
    ({ contentType, method, name }) => contentType === undefined && method !== 'GET' && !others.has(name),
  );
});
afterAll(async () => {
  connection.close();
  await board.close();
});

/** Parameters of a form that no other has, well-formed. */
const formed = {
  channelId: '01234567-89ab-4cde-8f01-23456789abcd',
  path: 'notes.md',
  skillId: 'skill_0123456789ab',
};

/** The ids of existing records that the path of an operation names. */
function idsFor({ template }: Operation): Record<string, string> {
  const path = template.replace('{taskId}', taskId);
  const parent = [...made.keys()].find((each) => path.startsWith(`${each}/{`));
  const name = parent === undefined ? undefined : /\{(\w+)\}/.exec(path.slice(parent.length))?.[1];
  return { taskId, ...formed, ...(parent && name ? { [name]: made.get(parent) ?? '' } : {}) };
}

async function send(operation: Operation, body: unknown) {
  const parts = requestOf(operation, document, idsFor(operation));
  const headers = { ...parts.headers, 'Content-Type': 'application/json' };
  const reply = await connection.send({ ...parts, headers, body: JSON.stringify(body) });
  const refusal = reply.body as { code?: string; details?: { issues?: unknown } };
  return { ...reply, refusal };
}

/** No Temporal server is here: an operation that came as far as that says so, and is no less valid. */
const unavailable = (status: number, code: string | undefined) => status === 503 && code === 'TEMPORAL_UNAVAILABLE';

describe('the body of every operation', () => {
  it('reaches records that exist', () => {
    expect(
      operations.filter((operation) => Object.keys(idsFor(operation)).length > Object.keys(formed).length + 1).length,
    ).toBeGreaterThan(20);
  });

  it('is refused with the name of a field that its contract does not have', async () => {
    const accepted: string[] = [];
    for (const operation of operations.filter(({ name }) => !others.has(name))) {
      const valid: unknown = JSON.parse(requestOf(operation, document, {}).body ?? '{}');
      const { status, body } = await send(operation, { ...(valid as object), unknownField: 1 });
      if (status !== 400 || !JSON.stringify(body).includes('unknownField')) {
        accepted.push(`${operation.name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('is refused with the names of its fields where the operation takes none', async () => {
    expect(bodiless.length).toBeGreaterThan(50);
    const accepted: string[] = [];
    for (const operation of bodiless) {
      const { status, body } = await send(operation, { expectedRevision: 1 });
      if (status !== 400 || !JSON.stringify(body).includes('expectedRevision')) {
        accepted.push(`${operation.name}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('is taken as its example has it', async () => {
    const refused: string[] = [];
    for (const operation of operations.filter(({ name }) => !ofItsOwnBoard.has(name))) {
      const { status, refusal } = await send(operation, operation.example);
      if ([400, 500].includes(status) && refusal.details?.issues !== undefined) {
        refused.push(`${operation.name}: ${status} ${JSON.stringify(refusal).slice(0, 300)}`);
      }
    }
    expect(refused).toEqual([]);
  });

  it('never breaks the service, whatever a field of it is', async () => {
    const request = fc
      .constantFrom(...operations)
      .chain((operation) =>
        fc.tuple(fc.constant(operation), almostValid(operation.body ?? {}, document.components.schemas)),
      );
    await fc.assert(
      fc.asyncProperty(request, async ([operation, body]) => {
        const { status, refusal } = await send(operation, body);
        if (status >= 500 && !unavailable(status, refusal.code)) {
          throw new Error(`${operation.name}: ${status} ${JSON.stringify(refusal)}`);
        }
      }),
      { numRuns: 800 },
    );
    expect((await board.call('GET', '/health/live')).status).toBe(200);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
