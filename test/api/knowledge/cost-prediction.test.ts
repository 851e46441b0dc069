import type { NewTask } from '../../support/factories/task';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('cost prediction API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const call = (method: string, rest: string, options: CallOptions = {}) =>
    board.call(method, `/api/cost-prediction${rest}`, options);
  const predict = (body: object, key = agentKey) => call('POST', '/predict', { body, key });
  const aTask = async (fields: Partial<NewTask> = {}): Promise<string> =>
    (await board.createTask({ project: 'shop', ...fields })).id;
  /** The task is done, and its runs have cost this much. */
  const finish = (id: string, actualCost: number) =>
    board.api.context.board.update(id, () => ({ status: 'done', actualCost }), { actor: 'test' });
  const finished = async (costs: number[]) => {
    for (const cost of costs) {
      const taskId = await aTask();
      const about = { taskId, agent: 'bee' };
      const events = [
        { type: 'run.completed', ...about, durationMs: 1_000, success: true },
        { type: 'run.tokens', ...about, model: 'm', inputTokens: 60, outputTokens: 40 },
      ];
      await board.call('POST', '/api/telemetry/events/bulk', { body: { events } });
      await finish(taskId, cost);
    }
  };

  it('goes by what tasks of the same kind took', async () => {
    await finished([1, 2, 3]);
    expect(await predict({ type: 'code', project: 'shop', priority: 'medium' })).toMatchObject({
      status: 200,
      body: {
        estimatedCost: 2,
        estimatedTokens: 100,
        estimatedDurationMs: 1_000,
        confidence: 'medium',
        basedOn: { sampleSize: 3, sameIn: ['type', 'project', 'priority'] },
      },
    });
    expect((await predict({ type: 'docs' })).body).toMatchObject({ confidence: 'low', basedOn: { sameIn: [] } });
  });

  it('is compared with what the task cost, and is not made better afterwards', async () => {
    await finished([2, 2, 2]);
    const id = await aTask();
    expect((await predict({ taskId: id })).body.estimatedCost).toBe(2);
    expect((await call('GET', '/accuracy')).body).toEqual([]);
    expect((await call('GET', '/accuracy/stats')).body).toEqual({
      predictions: 1,
      compared: 0,
      meanAccuracy: null,
      meanError: null,
    });
    await finish(id, 4);
    await finished([4, 4, 4, 4, 4]);
    expect((await predict({ taskId: id })).body.estimatedCost).toBe(4);
    const { body } = await call('GET', '/accuracy', { key: readKey });
    expect(body).toEqual([
      {
        taskId: id,
        predictedCost: 2,
        actualCost: 4,
        error: -2,
        accuracy: 0.5,
        confidence: 'medium',
        predictedAt: expect.any(String),
      },
    ]);
    expect((await call('GET', '/accuracy/stats')).body).toMatchObject({
      compared: 1,
      meanAccuracy: 0.5,
      meanError: -2,
    });
    expect((await call('GET', '/accuracy?offset=1')).body).toEqual([]);
  });

  it('does not go by the task itself', async () => {
    const id = await aTask();
    await finish(id, 7);
    expect((await predict({ taskId: id })).body).toMatchObject({ estimatedCost: null, basedOn: { sampleSize: 0 } });
  });

  it.each([
    ['nothing', {}, 'taskId'],
    ['a task and a type', { taskId: 'TASK-1', type: 'code' }, 'taskId'],
    ['a task and more', { taskId: 'TASK-1', project: 'shop' }, 'taskId'],
    ['a field that is none', { type: 'code', mood: 1 }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const refused = await predict(body);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs a task that is there, and task:write', async () => {
    expect((await predict({ taskId: 'task_20260101_nobody' })).status).toBe(404);
    expect((await predict({ type: 'code' }, readKey)).status).toBe(403);
  });
});
