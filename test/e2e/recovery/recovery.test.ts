import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import { TestWatcher } from '../../support/watcher';

let stack: Stack;

const start = async (settings: Record<string, string>): Promise<void> => {
  stack = await startStack(settings);
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  await stack.call.configureAgents([
    { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
    { ...scriptAgent('misbehaving', 'rate-limited', 'half.txt'), type: 'half-done' },
    { ...scriptAgent('misbehaving', 'exits-1'), type: 'failing' },
    scriptAgent('worker-bee'),
  ]);
};

describe('recovery of failed attempts', () => {
  afterEach(() => stack.close());

  const aTask = async (): Promise<string> =>
    (await stack.call.createTask({ title: 'Do it', git: { repo: 'sample' } })).id;
  const recoveryOf = (taskId: string) => stack.call.ok('GET', `/api/agents/${taskId}/recovery`);
  const cancel = (taskId: string, attemptId: string) =>
    stack.call.post(`/api/agents/${taskId}/recovery/cancel`, { attemptId });

  test('a failure that may pass is retried after its wait, until no retry is left', async () => {
    await start({ BOARD_RUN_RETRIES: '2', BOARD_RETRY_BACKOFF_MS: '50' });
    const taskId = await aTask();
    const first = await stack.call.start(taskId, { agent: 'limited' });
    const last = await eventually(async () => {
      const recovery = await recoveryOf(taskId);
      expect(recovery).toMatchObject({ state: 'exhausted', action: 'terminal', failureClass: 'rate-limit' });
      return recovery;
    });
    expect(last).toMatchObject({
      sequence: 3,
      rootAttemptId: first.attemptId,
      budget: { attempts: 3, maxAttempts: 3 },
    });
    const { attempts } = await stack.call.ok('GET', `/api/agents/${taskId}/attempts`);
    expect(attempts.map(({ retryNumber }: { retryNumber: number }) => retryNumber)).toEqual([2, 1, 0]);
    expect(attempts[0]).toMatchObject({ id: last.attemptId, parentAttemptId: attempts[1].id });
    expect(attempts[1]).toMatchObject({ parentAttemptId: first.attemptId, completion: { status: 'failed' } });
    expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({ status: 'in-progress' });
  });

  test('what failed for good is not retried, and what left something behind is for a person', async () => {
    await start({ BOARD_RETRY_BACKOFF_MS: '50' });
    const failed = await aTask();
    await stack.call.start(failed, { agent: 'failing' });
    await stack.call.ended(failed);
    expect(await recoveryOf(failed)).toMatchObject({
      failureClass: 'task-failure',
      action: 'terminal',
      state: 'exhausted',
    });

    const half = await aTask();
    const { attemptId } = await stack.call.start(half, { agent: 'half-done' });
    await stack.call.ended(half);
    const recovery = await recoveryOf(half);
    expect(recovery).toMatchObject({
      failureClass: 'partial-side-effect',
      action: 'approval',
      state: 'approval-required',
      operatorHandoff: { sideEffects: ['1 files changed'], nextSafeAction: expect.stringContaining('parentAttemptId') },
    });
    expect(recovery).not.toHaveProperty('nextAttemptId');
    expect(await cancel(half, attemptId)).toMatchObject({ status: 409, body: { code: 'RECOVERY_NOT_CANCELLABLE' } });
    // The task is free for its next run.
    const again = await stack.call.start(half, { agent: 'worker-bee', parentAttemptId: attemptId });
    expect(again.status).toBe('running');
    await stack.call.ended(half);
  });

  test('a recovery that waits is cancelled by exactly its attempt, once, and the task is free', async () => {
    await start({ BOARD_RETRY_BACKOFF_MS: '60000' });
    const taskId = await aTask();
    expect(await recoveryOf(taskId)).toBeNull();
    const watcher = await TestWatcher.open(stack.url);
    watcher.send({ type: 'subscribe', channel: 'agent:status' });
    await watcher.receives(({ type }) => type === 'agent:status:subscribed');
    const { attemptId } = await stack.call.start(taskId, { agent: 'limited' });
    await stack.call.ended(taskId);
    const waiting = await recoveryOf(taskId);
    expect(waiting).toMatchObject({ attemptId, action: 'retry', state: 'scheduled', route: { agent: 'limited' } });
    expect(waiting.backoffMs).toBeGreaterThan(20_000);
    expect(Date.parse(waiting.notBefore)).toBeGreaterThan(Date.now());
    expect(await stack.call.ok('GET', '/api/agents/recoveries')).toEqual({ recoveries: [waiting] });
    // While it waits, the task is the next attempt's.
    expect(await stack.call.post(`/api/agents/${taskId}/start`, {})).toMatchObject({
      status: 409,
      body: {
        code: 'RUN_ACTIVE',
        details: {
          attemptId,
          state: 'scheduled',
          nextAttemptId: waiting.nextAttemptId,
          recovery: { action: 'retry' },
          next: { method: 'POST', path: `/api/agents/${taskId}/recovery/cancel`, body: { attemptId } },
        },
      },
    });

    expect(await cancel(taskId, waiting.nextAttemptId)).toMatchObject({ status: 409, body: { code: 'STALE_ATTEMPT' } });
    const cancelled = await eventually(async () => {
      const answer = await cancel(taskId, attemptId);
      expect(answer.status).toBe(200);
      return answer.body;
    });
    expect(await stack.call.ok('GET', '/api/agents/recoveries')).toEqual({ recoveries: [] });
    await watcher.receives(({ type, state }) => type === 'recovery:changed' && state === 'cancelled');
    expect(watcher.of('recovery:changed')).toMatchObject([
      { attemptId, taskId, state: 'scheduled', revision: 1 },
      { attemptId, taskId, state: 'cancelled', revision: 2 },
    ]);
    watcher.close();
    const audited = (action: string) => stack.call.ok('GET', `/api/audit?action=${action}&resource=${attemptId}`);
    expect(await audited('recovery.schedule')).toMatchObject({
      entries: [{ actor: 'system:run', details: { taskId, follows: 'retry', nextAttemptId: waiting.nextAttemptId } }],
    });
    expect(await audited('recovery.cancel')).toMatchObject({ entries: [{ actor: cancelled.cancelledBy }] });
    expect(cancelled).toMatchObject({ state: 'cancelled', action: 'cancelled', cancelledBy: expect.any(String) });
    expect(await cancel(taskId, attemptId)).toMatchObject({
      status: 409,
      body: { code: 'RECOVERY_NOT_CANCELLABLE', details: { state: 'cancelled' } },
    });
    expect(await cancel(await aTask(), attemptId)).toMatchObject({ status: 404 });
    await stack.call.start(taskId, { agent: 'worker-bee' });
    expect(await stack.call.ended(taskId)).toMatchObject({ attempt: { completion: { status: 'success' } } });
  });

  test('when no retry is left, the fallback agent of the route continues', async () => {
    await start({ BOARD_RUN_RETRIES: '0', BOARD_RETRY_BACKOFF_MS: '50' });
    await stack.call.ok('PUT', '/api/agents/routing', {
      enabled: true,
      rules: [{ id: 'all', name: 'Everything', match: {}, agent: 'limited', fallback: 'worker-bee', enabled: true }],
      defaultAgent: null,
      fallbackOnFailure: true,
      maxRetries: 0,
    });
    const taskId = await aTask();
    const { attemptId } = await stack.call.start(taskId);
    await eventually(async () =>
      expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({ status: 'done' }),
    );
    expect(await recoveryOf(taskId)).toMatchObject({
      attemptId,
      action: 'fallback',
      state: 'launched',
      route: { agent: 'worker-bee', reason: 'fallback agent' },
    });
    const { attempts } = await stack.call.ok('GET', `/api/agents/${taskId}/attempts`);
    expect(attempts.map(({ agent }: { agent: string }) => agent)).toEqual(['worker-bee', 'limited']);
    const { reservations } = await stack.call.ok('GET', `/api/admission?taskId=${taskId}`);
    expect(reservations).toMatchObject([
      { request: { source: 'fallback' }, tree: { edge: 'fallback' } },
      { request: { source: 'direct' }, tree: { edge: 'root' } },
    ]);
  });
});
