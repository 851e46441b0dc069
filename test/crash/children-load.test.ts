import { changeFeatures } from '../support/change-features';
import { type Stack, startStack } from '../support/stack/stack';

interface Run {
  taskId: string;
  attemptId: string;
}

describe('a tree of many children', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ BOARD_MAX_RUNS: '1000' });
    await stack.call.configureAgents([{ type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' }]);
  });
  afterAll(() => stack.close());

  /** A task whose run lasts until it is stopped or reported: an agent elsewhere costs nothing. */
  const waitingTask = async (): Promise<string> =>
    (await stack.call.createTask({ title: 'Wait for it', agent: 'elsewhere' })).id;
  const start = async (body: object = {}): Promise<Run> => stack.call.start(await waitingTask(), body);
  const childOf = ({ attemptId }: Run) => start({ parentAttemptId: attemptId });
  const refusedChild = async (parentAttemptId: string) =>
    stack.call.post(`/api/agents/${await waitingTask()}/start`, { parentAttemptId });
  const settings = async (admission: object) => {
    await changeFeatures(stack.call, { admission });
  };

  it('trips the breaker with 256 descendants, 16 deep', async () => {
    await settings({ fanOutBreaker: { maxActiveReservations: 1_000 } });
    const root = await start();
    const chain = [root];
    for (let depth = 1; depth <= 16; depth += 1) {
      chain.push(await childOf(chain.at(-1)!));
    }
    const deepest = chain.at(-1)!;
    let missing = 256 - 16;
    const grow = async () => {
      while (missing > 0) {
        missing -= 1;
        await childOf(root);
      }
    };
    await Promise.all(Array.from({ length: 8 }, grow));
    const tree = `/api/admission/tree/${root.attemptId}`;
    expect(await stack.call.ok('GET', tree)).toMatchObject({ state: 'open', descendants: 256 });

    const signals = [
      { signal: 'descendant-limit', current: 257, limit: 256 },
      { signal: 'depth-limit', current: 17, limit: 16 },
    ];
    expect(await refusedChild(deepest.attemptId)).toMatchObject({
      status: 409,
      body: { code: 'EXECUTION_TREE_EXPANSION_PAUSED', details: { signals, retryable: true } },
    });
    expect(await stack.call.ok('GET', tree)).toMatchObject({
      state: 'paused',
      descendants: 256,
      control: { actor: 'system:breaker', signals },
    });
    expect((await refusedChild(root.attemptId)).body).toMatchObject({ code: 'EXECUTION_TREE_EXPANSION_PAUSED' });
    const resumed = await stack.call.post(`${tree}/resume`, { idempotencyKey: 'resume-0001', reason: 'more' });
    expect(resumed).toMatchObject({ status: 409, body: { code: 'EXECUTION_TREE_RESUME_BLOCKED' } });
  });
});
