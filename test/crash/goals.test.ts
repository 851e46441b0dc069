import { join } from 'node:path';
import type { Goal } from '../../contracts/governance/goals/goal';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { changeFeatures } from '../support/change-features';
import { aRepository } from '../support/git/repository';
import { goalKillPoints } from '../support/processes/goal-kill-points';
import type { KillPoints } from '../support/processes/kill-points';
import { persistently } from '../support/processes/persistently';
import { allowContinuations, aPursuedGoal, pursuer, readGoal } from '../support/runs/goals';
import { type Service, soonAgain, startService } from '../support/stack/service';

let files: TempDir;
let points: KillPoints;
let service: Service;

/** The goal once it is in the state, whatever is being started again meanwhile. */
const goalIn = (goalId: string, state: Goal['state']): Promise<Goal> =>
  eventually(async () => {
    const goal = await readGoal(service.call, goalId);
    expect(goal.state).toBe(state);
    return goal;
  });

/** What must hold whatever was killed: each continuation is one run, and each run is counted once. */
async function expectOnce({ continuationChain, continuationAttempts, usageEvents, usage }: Goal, taskId: string) {
  const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
  const launched = attempts.filter(({ retryNumber }: { retryNumber: number }) => retryNumber === 0);
  expect(launched).toHaveLength(continuationAttempts.length + 1);
  const ids = attempts.map(({ id }: { id: string }) => id).sort();
  expect(continuationChain.map(({ attemptId }) => attemptId).sort()).toEqual(ids);
  expect(usageEvents.map(({ attemptId }) => attemptId).sort()).toEqual(ids);
  expect(usage.totalTokens).toBe(usageEvents.reduce((sum, { totalTokens }) => sum + totalTokens, 0));
  expect(continuationAttempts.map(({ state }) => state)).toEqual(continuationAttempts.map(() => 'dispatched'));
}

describe('kill -9 in the middle of a goal', () => {
  beforeAll(async () => {
    files = await makeTempDir('goals');
    points = await goalKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([pursuer(files.path, 'second', 2)]);
    await allowContinuations(service.call, { spendCapUsd: 1_000 });
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  test.each([
    ['before its run is counted', 'before change'],
    ['after a continuation was planned', 'after settleGoal'],
    ['before the continuation is launched', 'before launch'],
    ['after the continuation was launched, and before that is recorded', 'after launch'],
    ['after the continuation was recorded', 'after dispatchContinuation'],
  ])('of the worker %s launches it once, and counts each run once', async (_when, step) => {
    await points.arm(step);
    const { goalId, taskId } = await aPursuedGoal(service.call, 'second');
    await eventually(() => expect(points.isReached()).toBe(true));
    await expectOnce(await goalIn(goalId, 'complete'), taskId);
  });

  test('of the API after it has planned a rollover loses nothing to a caller who repeats the request', async () => {
    const continuation = { mode: 'manual' };
    const { goalId, taskId } = await aPursuedGoal(service.call, 'second', { continuation });
    await eventually(async () => expect((await readGoal(service.call, goalId)).usage.totalTokens).toBe(100));
    const { revision: expectedRevision } = await readGoal(service.call, goalId);
    await points.arm('before look');
    const key = { 'Idempotency-Key': `rollover-${goalId}` };
    const rollOver = () => service.call.ok('POST', `/api/goals/${goalId}/rollover`, { expectedRevision }, key);
    await expect(rollOver()).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    const repeated = await persistently(rollOver);
    expect(repeated.continuationAttempts).toHaveLength(1);
    await expectOnce(await goalIn(goalId, 'complete'), taskId);
  });

  test('of the API alone after it has planned a rollover is made good by the next worker that starts', async () => {
    const continuation = { mode: 'manual' };
    const { goalId, taskId } = await aPursuedGoal(service.call, 'second', { continuation });
    await eventually(async () => expect((await readGoal(service.call, goalId)).usage.totalTokens).toBe(100));
    const { revision: expectedRevision } = await readGoal(service.call, goalId);
    await points.arm('before look');
    await expect(service.call.ok('POST', `/api/goals/${goalId}/rollover`, { expectedRevision })).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    process.kill(service.pids().worker!, 'SIGKILL');
    await expectOnce(await goalIn(goalId, 'complete'), taskId);
  });

  test.each([
    ['before a continuation is launched', 'before launch'],
    ['after a continuation was launched, and before that is recorded', 'after launch'],
    ['after a continuation was recorded', 'after dispatchRunContinuation'],
  ])('of the worker %s by the watcher launches it once', async (_when, step) => {
    await changeFeatures(service.call, { watcher: { continueRuns: true } });
    await points.arm(step);
    const { id: taskId } = await service.call.createTask({ title: 'Watched', git: { repo: 'sample' } });
    await service.call.start(taskId, { agent: 'second' });
    const continuations = await eventually(async () => {
      const answer = await service.call.ok('GET', `/api/watcher-policies/continuations?taskId=${taskId}`);
      expect(answer.continuations).toMatchObject([{ state: 'dispatched' }]);
      return answer.continuations;
    });
    // The last of the points comes after what is read here.
    await eventually(() => expect(points.isReached()).toBe(true));
    await eventually(async () => expect(await service.call.status(taskId)).toMatchObject({ state: 'ended' }));
    const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
    const launched = attempts.filter(({ retryNumber }: { retryNumber: number }) => retryNumber === 0);
    expect(launched.map(({ id }: { id: string }) => id)).toContain(continuations[0].attemptId);
    expect(launched).toHaveLength(2);
  });
});
