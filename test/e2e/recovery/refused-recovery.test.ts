import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import { TestWatcher } from '../../support/watcher';

let stack: Stack;

const agents = [
  { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
  { ...scriptAgent('worker-bee', '5000', '10'), type: 'long-bee' },
  scriptAgent('worker-bee'),
];

describe('refused recovery', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_RUN_RETRIES: '1', BOARD_RETRY_BACKOFF_MS: '1500' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
  });
  beforeEach(() => stack.call.configureAgents(agents));
  afterAll(() => stack.close());

  const aTask = async (): Promise<string> =>
    (await stack.call.createTask({ title: 'Do it', git: { repo: 'sample' } })).id;
  const recoveryOf = (taskId: string) => stack.call.ok('GET', `/api/agents/${taskId}/recovery`);
  const cancel = (taskId: string, attemptId: string) =>
    stack.call.post(`/api/agents/${taskId}/recovery/cancel`, { attemptId });
  /** Fails a run in a way that is retried, and returns when its recovery waits. */
  async function failing(taskId: string): Promise<string> {
    const { attemptId } = await stack.call.start(taskId, { agent: 'limited' });
    await eventually(async () => expect(await recoveryOf(taskId)).toMatchObject({ attemptId, state: 'scheduled' }));
    return attemptId;
  }

  const withoutLimited = agents.filter(({ type }) => type !== 'limited');
  const limits = async (memoryMb: number) => {
    await changeFeatures(stack.call, { admission: { limits: { global: { memoryMb } } } });
  };

  test.each<[string, (taskId: string) => Promise<unknown>, string, () => Promise<unknown>]>([
    [
      'whose agent was switched off meanwhile',
      () => stack.call.configureAgents([{ ...agents[0], enabled: false }, ...withoutLimited]),
      'AGENT_UNAVAILABLE',
      () => Promise.resolve(),
    ],
    [
      'whose agent was removed meanwhile',
      () => stack.call.configureAgents(withoutLimited),
      'AGENT_UNKNOWN',
      () => Promise.resolve(),
    ],
    [
      'whose host cannot start the agent any more',
      () => stack.call.configureAgents([{ ...agents[0], command: '/nowhere/agent' }, ...withoutLimited]),
      'AGENT_UNAVAILABLE',
      () => Promise.resolve(),
    ],
    [
      'of a task that was set to done meanwhile',
      (taskId) => stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'done' }),
      'TASK_STATUS_CHANGED',
      () => Promise.resolve(),
    ],
    ['that asks for more than may be had by now', () => limits(1), 'ADMISSION_POLICY_DENIED', () => limits(1_000_000)],
  ])('a retry %s frees the task at once and reports why', async (_case, change, code, undo) => {
    const taskId = await aTask();
    const watcher = await TestWatcher.open(stack.url);
    watcher.send({ type: 'subscribe', taskId });
    const attemptId = await failing(taskId);
    await change(taskId);
    const refused = await eventually(async () => {
      const recovery = await recoveryOf(taskId);
      expect(recovery.refusal).toBeDefined();
      return recovery;
    });
    expect(refused).toMatchObject({
      attemptId,
      action: 'terminal',
      state: 'exhausted',
      refusal: { code, message: expect.any(String), at: expect.any(String) },
    });
    await undo();
    expect(await stack.call.ok('GET', `/api/audit?action=recovery.refuse&resource=${attemptId}`)).toMatchObject({
      entries: [{ actor: 'system:run', details: { taskId, nextAttemptId: refused.nextAttemptId, code } }],
    });
    // Right away, not when lost runs have been searched for.
    const { attemptId: again } = await stack.call.start(taskId, { agent: 'worker-bee' });
    expect(await cancel(taskId, attemptId)).toMatchObject({ status: 409, body: { code: 'RECOVERY_NOT_CANCELLABLE' } });

    const reported = await watcher.receives(({ type, data }) => type === 'agent:event' && data.kind === 'run.refused');
    expect(reported).toMatchObject({ attemptId: refused.nextAttemptId, data: { payload: { code } } });
    await watcher.receives(({ type, status }) => type === 'agent:complete' && status === 'refused');
    watcher.close();
    const url = `/api/agents/${taskId}/attempts`;
    expect(await stack.call.ok('GET', `${url}/${refused.nextAttemptId}`)).toMatchObject({
      state: 'refused',
      agent: 'limited',
      parentAttemptId: attemptId,
      retryNumber: 1,
      refusal: { code },
    });
    const { attempts } = await stack.call.ok('GET', url);
    expect(attempts.map(({ id }: { id: string }) => id)).toEqual([again, attemptId]);
    await stack.call.ended(taskId);
  });

  test('a recovery is cancelled from the first moment it can be read, and without any worker', async () => {
    for (let n = 0; n < 3; n += 1) {
      const taskId = await aTask();
      const { attemptId } = await stack.call.start(taskId, { agent: 'limited' });
      await eventually(async () => expect(await recoveryOf(taskId)).not.toBeNull(), { everyMs: 1 });
      expect(await cancel(taskId, attemptId)).toMatchObject({ status: 200, body: { state: 'cancelled' } });
      await stack.call.ended(taskId);
      // The task is free: the run that failed handed it to nothing.
      const { attemptId: again } = await stack.call.start(taskId, { agent: 'long-bee' });
      expect(again).not.toBe((await recoveryOf(taskId)).nextAttemptId);
      await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId: again });
    }
    const taskId = await aTask();
    const attemptId = await failing(taskId);
    await stack.worker.close();
    expect(await cancel(taskId, attemptId)).toMatchObject({ status: 200, body: { state: 'cancelled' } });
  });
});
