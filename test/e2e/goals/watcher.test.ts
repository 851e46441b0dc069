import { eventually } from '../../../platform/testing/eventually';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { allowContinuations, aPursuedGoal, goalIn, pursuer, turnsOf } from '../../support/runs/goals';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const aRun = async (agent: string): Promise<{ taskId: string; attemptId: string }> => {
  const { id: taskId } = await stack.call.createTask({ title: 'Watched', git: { repo: 'sample' } });
  return { taskId, attemptId: (await stack.call.start(taskId, { agent })).attemptId };
};
const continuationsOf = async (taskId: string) =>
  (await stack.call.ok('GET', `/api/watcher-policies/continuations?taskId=${taskId}`)).continuations;
const watch = (fields: object = {}) =>
  allowContinuations(stack.call, { spendCapUsd: 1_000, continueRuns: true, ...fields });

/** The continuations of a task, newest first, once there are so many with an outcome. */
const settled = (taskId: string, count: number) =>
  eventually(async () => {
    const continuations = await continuationsOf(taskId);
    expect(continuations).toHaveLength(count);
    expect(continuations.map(({ state }: { state: string }) => state)).not.toContain('planned');
    return continuations;
  });

describe('runs that the watcher continues', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      pursuer(stack.dir, 'third', 3),
      pursuer(stack.dir, 'never', 1_000),
      { ...pursuer(stack.dir, 'slow', 1_000, 60_000) },
      scriptAgent('worker-bee'),
    ]);
  });
  afterAll(() => stack.close());

  test('are continued in their session until one succeeds, and listed', async () => {
    await watch();
    const { taskId, attemptId } = await aRun('third');
    const [second, first] = await settled(taskId, 2);
    expect(first).toMatchObject({ sourceAttemptId: attemptId, taskId, status: 'partial', state: 'dispatched' });
    expect(second).toMatchObject({ sourceAttemptId: first.attemptId, state: 'dispatched' });
    await eventually(async () =>
      expect(await stack.call.status(taskId)).toMatchObject({ attemptId: second.attemptId, state: 'ended' }),
    );
    expect(turnsOf(stack.dir, taskId).map(({ edge }) => edge)).toEqual([null, 'follow-up', 'follow-up']);
    expect(await stack.call.ok('GET', `/api/admission/${second.attemptId}`)).toMatchObject({
      request: { source: 'watcher' },
      tree: { rootObjectiveId: attemptId },
    });
    const { entries } = await stack.call.ok('GET', `/api/audit?action=run.continue&resource=${attemptId}`);
    expect(entries).toMatchObject([
      { actor: 'system:watcher', details: { attemptId: first.attemptId, state: 'dispatched' } },
    ]);
  });

  test('end at the cap of their execution tree, with the reason', async () => {
    await watch({ maxContinuationsPerRun: 1 });
    const { taskId } = await aRun('never');
    expect(await settled(taskId, 2)).toMatchObject([
      { state: 'failed', error: { code: 'CONTINUATION_BLOCKED', message: expect.stringContaining('the cap is 1') } },
      { state: 'dispatched' },
    ]);
  });

  test('end at the spend of the month, with the reason', async () => {
    await watch({ spendCapUsd: 0.01 });
    const { taskId } = await aRun('never');
    expect(await settled(taskId, 1)).toMatchObject([
      { state: 'failed', error: { code: 'CONTINUATION_BLOCKED', message: expect.stringContaining('the cap is 0.01') } },
    ]);
  });

  test('wait for a person where the policy asks', async () => {
    await watch({ defaultMode: 'ask_always' });
    const { taskId } = await aRun('never');
    expect(await settled(taskId, 1)).toMatchObject([
      { state: 'failed', error: { code: 'CONTINUATION_NEEDS_APPROVAL' } },
    ]);
  });

  test.each([{ continueRuns: false }, { globalKillSwitch: true }, { enabled: false }])(
    'are none with %j',
    async (fields) => {
      await watch(fields);
      const { taskId } = await aRun('never');
      await stack.call.ended(taskId);
      expect(await continuationsOf(taskId)).toEqual([]);
    },
  );

  test('are none that a person stopped, that succeeded, or that a goal has', async () => {
    await watch();
    const stopped = await aRun('slow');
    await eventually(() => expect(turnsOf(stack.dir, stopped.taskId)).toHaveLength(1));
    await stack.call.ok('POST', `/api/agents/${stopped.taskId}/stop`, { attemptId: stopped.attemptId });
    const succeeded = await aRun('worker-bee');
    const pursued = await aPursuedGoal(stack.call, 'third');
    await goalIn(stack.call, pursued.goalId, 'complete');
    for (const { taskId } of [stopped, succeeded, pursued]) {
      await stack.call.ended(taskId);
      expect(await continuationsOf(taskId)).toEqual([]);
    }
  });
});
