import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ BOARD_MAX_RUNS: '1000' });
  await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
});
afterAll(() => stack.close());

interface Run {
  taskId: string;
  attemptId: string;
}

/** A task whose run lasts until it is stopped or reported: an agent elsewhere costs nothing. */
const aTask = (fields: object = {}) => stack.call.createTask({ title: 'Wait for it', agent: 'elsewhere', ...fields });
const start = async (body: object = {}): Promise<Run> => stack.call.start((await aTask()).id, body);
const childOf = ({ attemptId }: Run, body: object = {}) => start({ parentAttemptId: attemptId, ...body });
const refusedChild = async (parentAttemptId: string, body: object = {}) =>
  stack.call.post(`/api/agents/${(await aTask()).id}/start`, { parentAttemptId, ...body });
const stop = ({ taskId, attemptId }: Run) => stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

describe('a start that names a parent attempt on another task', () => {
  it('is a child in the tree of that attempt, one level down', async () => {
    const root = await start();
    const child = await childOf(root);
    const grandchild = await childOf(child);
    expect(await stack.call.ok('GET', `/api/admission/${grandchild.attemptId}`)).toMatchObject({
      request: { source: 'child-agent' },
      tree: { rootObjectiveId: root.attemptId, parentNodeId: child.attemptId, edge: 'child-agent', depth: 2 },
    });
    expect((await stack.call.status(child.taskId)).attempt).toMatchObject({ parentAttemptId: root.attemptId });
    const preview = await stack.call.ok('POST', `/api/agents/${(await aTask()).id}/launch-preview`, {
      parentAttemptId: root.attemptId,
    });
    expect(preview).toMatchObject({ parentAttemptId: root.attemptId, drift: expect.any(Object) });
  });

  it('runs under the preset of its parent, and under no wider one', async () => {
    const preset = (id: string, deniedPaths: string[]) =>
      stack.call.ok('POST', '/api/sandbox-policies', {
        id,
        name: id,
        enforcement: 'advisory',
        filesystem: { deniedPaths },
      });
    await preset('tight', ['secrets']);
    await preset('tighter', ['secrets', 'keys']);
    await preset('loose', []);
    const root = await start({ sandboxPresetId: 'tight', commitPolicy: 'forbidden' });
    const child = await childOf(root);
    const { attempt, runLaunchManifest } = await stack.call.status(child.taskId);
    expect(attempt).toMatchObject({ commitPolicy: 'forbidden' });
    expect(runLaunchManifest.origins).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ field: 'sandbox', source: `attempt:${root.attemptId}` }),
        expect.objectContaining({ field: 'commitPolicy', source: `attempt:${root.attemptId}` }),
      ]),
    );
    await childOf(child, { sandboxPresetId: 'tighter' });
    for (const [body, field] of [
      [{ sandboxPresetId: 'loose' }, 'sandbox.filesystem.deniedPaths'],
      [{ commitPolicy: 'allowed' }, 'commitPolicy'],
    ] as const) {
      expect(await refusedChild(child.attemptId, body)).toMatchObject({
        status: 409,
        body: { code: 'CHILD_AUTHORITY_WIDENED', details: { parentAttemptId: child.attemptId, fields: [field] } },
      });
    }
  });

  it('is refused when that attempt has no running agent, or is none', async () => {
    const ended = await start();
    await stop(ended);
    expect(await refusedChild(ended.attemptId)).toMatchObject({
      status: 409,
      body: { code: 'PARENT_NOT_RUNNING', details: { parentAttemptId: ended.attemptId, status: 'interrupted' } },
    });
    expect((await refusedChild('attempt_unknown000')).status).toBe(404);
  });

  it('is refused in a tree that was cancelled', async () => {
    const root = await start();
    const path = `/api/admission/tree/${root.attemptId}/cancel`;
    await stack.call.ok('POST', path, { idempotencyKey: 'cancel-0001', reason: 'enough' });
    const refused = await refusedChild(root.attemptId);
    expect(refused.status).toBe(409);
    expect(['EXECUTION_TREE_CANCELLED', 'PARENT_NOT_RUNNING']).toContain(refused.body.code);
  });
});
