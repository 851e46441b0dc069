import { ApplicationFailure } from '@temporalio/common';
import { gate } from '../../support/workflows/gate';
import { refusedWith, stubbedWorktrees, to } from '../../support/workflows/worktree';

describe('an interrupted operation', () => {
  const { workers, worktree: aWorktree } = stubbedWorktrees();
  const merge = { operationId: 'op_1', kind: 'merge' as const, state: 'pushing' as const };
  const rebase = { operationId: 'op_1', kind: 'rebase' as const, state: 'rebasing' as const };
  const conflict = async () => refusedWith('WORKTREE_CONFLICT');

  test('is finished before another one begins', async () => {
    const worktree = aWorktree({ plan: { unfinished: merge } });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toMatchObject({ status: 'done' });
    expect(worktree.steps).toEqual([
      ...['planWorktree', 'pushMerge', 'finishMerge'],
      ...['planWorktree', 'beginWorktree', 'rebaseWorktree', 'inspect'],
    ]);
    expect(worktree.stubs.inputs('pushMerge')).toEqual([{ taskId: worktree.taskId, operationId: 'op_1' }]);
  });

  test('that returns its inspection is followed by the requested one as well', async () => {
    const inspected = async () => ({ state: 'ready' as const, inspection: {} as never });
    const worktree = aWorktree({ plan: { unfinished: merge }, finishMerge: inspected });
    await worktree.ask({ kind: 'merge' });
    expect(worktree.steps).toContain('beginWorktree');
  });

  test('that is interrupted again blocks every other one', async () => {
    const pushMerge = () => Promise.reject(ApplicationFailure.nonRetryable('no route', 'push-failed'));
    const worktree = aWorktree({ plan: { unfinished: merge }, pushMerge });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toMatchObject({ code: 'WORKTREE_INTERRUPTED' });
    expect(worktree.steps).toEqual(['planWorktree', 'pushMerge', 'recordInterruption']);
  });

  test('that ends in a conflict answers the request for the same one, and no other', async () => {
    const same = aWorktree({ plan: { unfinished: rebase }, rebaseWorktree: conflict });
    await expect(same.ask({ kind: 'rebase' })).resolves.toMatchObject({ code: 'WORKTREE_CONFLICT' });
    expect(same.steps).toEqual(['planWorktree', 'rebaseWorktree']);
    const other = aWorktree({
      plan: { unfinished: rebase },
      rebaseWorktree: conflict,
      beginWorktree: to('cleanup'),
    });
    await expect(other.ask({ kind: 'cleanup', force: false })).resolves.toMatchObject({ status: 'done' });
    expect(other.steps).toContain('removeWorktree');
  });

  test('is finished alone when nothing else is requested', async () => {
    const worktree = aWorktree({ plan: { unfinished: merge } });
    await worktree.resume();
    await expect(worktree.handle.result()).resolves.toEqual({ status: 'done' });
    expect(worktree.steps).toEqual(['planWorktree', 'pushMerge', 'finishMerge']);
  });

  test('that ends in a conflict is done when nothing else is requested', async () => {
    const worktree = aWorktree({ plan: { unfinished: rebase }, rebaseWorktree: conflict });
    await worktree.resume();
    await expect(worktree.handle.result()).resolves.toEqual({ status: 'done' });
    expect(worktree.steps).toEqual(['planWorktree', 'rebaseWorktree']);
  });

  test('is followed by the request that arrives meanwhile, planned as of then', async () => {
    const rebasing = gate({ state: 'ready' as const });
    const worktree = aWorktree({
      plan: { unfinished: rebase },
      rebaseWorktree: rebasing.wait,
      beginWorktree: to('cleanup'),
    });
    await worktree.resume();
    await worktree.called('rebaseWorktree');
    const removal = worktree.ask({ kind: 'cleanup', force: false });
    await worktree.called('verifyOperation');
    rebasing.open();
    await expect(removal).resolves.toMatchObject({ status: 'done' });
    expect(worktree.steps).toEqual([
      ...['planWorktree', 'rebaseWorktree', 'verifyOperation'],
      ...['planWorktree', 'beginWorktree', 'removeWorktree', 'inspect'],
    ]);
    const { startTime } = await worktree.handle.describe();
    const [, planned] = worktree.stubs.inputs('planWorktree');
    expect(planned?.acceptedAtMs).toBeGreaterThan(startTime.getTime());
  });

  test('is followed by nothing when what was requested cannot be planned', async () => {
    let plans = 0;
    const planWorktree = async () => {
      plans += 1;
      return plans === 1
        ? { hostId: workers.hostId, target: null, unfinished: merge }
        : refusedWith('WORKTREE_MISSING');
    };
    const worktree = aWorktree({ planWorktree });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toMatchObject({ code: 'WORKTREE_MISSING' });
    expect(worktree.steps).toEqual(['planWorktree', 'pushMerge', 'finishMerge', 'planWorktree']);
  });
});
