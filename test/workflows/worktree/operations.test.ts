import { ApplicationFailure } from '@temporalio/common';
import type { Beginning } from '../../../activities/worktree/begin/beginning';
import { inspection, refusedWith, stubbedWorktrees, to } from '../../support/workflows/worktree';

const gitFails = () => Promise.reject(ApplicationFailure.nonRetryable('no route', 'push-failed'));

describe('an operation on a worktree', () => {
  const { workers, worktree: aWorktree } = stubbedWorktrees();

  test('is planned and recorded, then done, then inspected', async () => {
    const worktree = aWorktree();
    await expect(worktree.ask({ kind: 'rebase' }, 'jo')).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree', 'rebaseWorktree', 'inspect']);
    expect(worktree.stubs.inputs('planWorktree')).toEqual([
      expect.objectContaining({ kind: 'rebase', asked: expect.objectContaining({ actor: 'jo' }) }),
    ]);
    expect(worktree.stubs.inputs('planWorktree')[0]).not.toHaveProperty('hostId');
    const queues = worktree.stubs.calls.map(({ taskQueue }) => taskQueue);
    expect(queues).toEqual([workers.boardQueue, workers.hostQueue, workers.hostQueue, workers.hostQueue]);
  });

  test('has the id of its plan in every step; plans of earlier versions have none', async () => {
    const plan = { hostId: workers.hostId, target: null, unfinished: null };
    const planned = aWorktree({ planWorktree: async () => ({ ...plan, operationId: 'op_planned' }) });
    await planned.ask({ kind: 'rebase' });
    expect(planned.stubs.inputs('beginWorktree')).toEqual([expect.objectContaining({ operationId: 'op_planned' })]);
    expect(planned.stubs.inputs('rebaseWorktree')).toEqual([{ taskId: planned.taskId, operationId: 'op_planned' }]);
    const earlier = aWorktree();
    await earlier.ask({ kind: 'rebase' });
    expect(earlier.stubs.inputs('beginWorktree')[0]?.operationId).toMatch(/^op_[0-9a-f]{16}$/);
  });

  test('that cannot be planned is refused, and nothing is begun', async () => {
    const refusal = refusedWith('WORKTREE_MISSING');
    const worktree = aWorktree({ planWorktree: async () => refusal });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toEqual(refusal);
    expect(worktree.steps).toEqual(['planWorktree']);
  });

  test('that its host refuses to begin runs no step', async () => {
    const refusal = refusedWith('WORKTREE_DIRTY');
    const worktree = aWorktree({ beginWorktree: async () => refusal });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toEqual(refusal);
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree']);
  });

  test('with nothing to do is inspected alone', async () => {
    const worktree = aWorktree({ beginWorktree: to('ready') });
    await expect(worktree.ask({ kind: 'adopt' })).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree', 'inspect']);
  });

  test('returns what its last step has inspected', async () => {
    const worktree = aWorktree({ rebaseWorktree: async () => ({ state: 'ready', inspection }) });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).not.toContain('inspect');
  });

  test('is done also when its host does not respond to the inspection', async () => {
    const worktree = aWorktree({ inspect: gitFails });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toEqual({ status: 'done' });
  });

  test('that a step refuses ends there', async () => {
    const refusal = refusedWith('WORKTREE_CONFLICT');
    const worktree = aWorktree({ beginWorktree: to('merging'), integrateBranch: async () => refusal });
    await expect(worktree.ask({ kind: 'merge' })).resolves.toEqual(refusal);
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree', 'integrateBranch']);
  });

  test.each([
    ['committing', ['commitWorktree', 'integrateBranch', 'pushMerge', 'finishMerge']],
    ['merging', ['integrateBranch', 'pushMerge', 'finishMerge']],
    ['pushing', ['pushMerge', 'finishMerge']],
    ['integrated', ['finishMerge']],
    ['cleanup', ['removeWorktree']],
    ['preparing', ['makeWorktree']],
  ] as const)('that begins in %s goes through every step from there', async (state, steps) => {
    const worktree = aWorktree({ beginWorktree: to(state) });
    await expect(worktree.ask({ kind: 'merge' })).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree', ...steps, 'inspect']);
  });

  test('whose step fails for good is recorded as interrupted, with the code of git', async () => {
    const worktree = aWorktree({ beginWorktree: to('merging'), pushMerge: gitFails });
    await expect(worktree.ask({ kind: 'merge' })).resolves.toMatchObject({ code: 'WORKTREE_INTERRUPTED' });
    expect(worktree.stubs.inputs('recordInterruption')).toEqual([
      expect.objectContaining({ code: 'push-failed', message: 'no route' }),
    ]);
    expect(worktree.steps).not.toContain('finishMerge');
  });

  test('that cannot begin is refused', async () => {
    const worktree = aWorktree({ beginWorktree: gitFails });
    await expect(worktree.ask({ kind: 'rebase' })).resolves.toMatchObject({
      code: 'WORKTREE_GIT_FAILED',
      details: { taskId: worktree.taskId, hostId: workers.hostId, reason: 'push-failed' },
    });
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree']);
  });
});

describe('the creation of a worktree', () => {
  const { workers, worktree: aWorktree } = stubbedWorktrees();

  test('is one activity, and inspected only where that adds something', async () => {
    const inspected = aWorktree();
    await expect(inspected.ask({ kind: 'create' })).resolves.toEqual({ status: 'done', inspection });
    expect(inspected.steps).toEqual(['planWorktree', 'createWorktree']);
    const made = aWorktree({ createWorktree: to('ready') });
    await expect(made.ask({ kind: 'create' })).resolves.toEqual({ status: 'done', inspection });
    expect(made.steps).toEqual(['planWorktree', 'createWorktree', 'inspect']);
  });

  test('is planned for the host that it is requested on', async () => {
    const worktree = aWorktree();
    await worktree.resume({ actor: 'run:attempt_1', request: { kind: 'create' }, hostId: workers.hostId });
    await worktree.handle.result();
    expect(worktree.stubs.inputs('planWorktree')).toEqual([expect.objectContaining({ hostId: workers.hostId })]);
    expect(worktree.steps).toEqual(['planWorktree', 'createWorktree']);
  });

  test('that its host refuses is refused', async () => {
    const refusal = refusedWith('BASE_STALE');
    const worktree = aWorktree({ createWorktree: async () => refusal });
    await expect(worktree.ask({ kind: 'create' })).resolves.toEqual(refusal);
    expect(worktree.steps).toEqual(['planWorktree', 'createWorktree']);
  });

  /** A creation that fails, and what the stores have of the task then. */
  const failing = (left: (operationId: string) => { unfinished: string | null } | { refused: string }) => {
    let operationId: string | undefined;
    return aWorktree({
      createWorktree: (beginning: Beginning) => {
        operationId = beginning.operationId;
        return gitFails();
      },
      planWorktree: async () => {
        const found = operationId === undefined ? { unfinished: null } : left(operationId);
        if ('refused' in found) {
          return refusedWith(found.refused);
        }
        const { unfinished } = found;
        const written =
          unfinished === null
            ? null
            : { operationId: unfinished, kind: 'create' as const, state: 'preparing' as const };
        return { hostId: workers.hostId, target: null, unfinished: written };
      },
    });
  };

  test('that fails for good is interrupted once it is recorded', async () => {
    const worktree = failing((operationId) => ({ unfinished: operationId }));
    await expect(worktree.ask({ kind: 'create' })).resolves.toMatchObject({ code: 'WORKTREE_INTERRUPTED' });
    expect(worktree.stubs.inputs('planWorktree')[1]).toEqual({ taskId: worktree.taskId, kind: null });
    expect(worktree.stubs.inputs('recordInterruption')).toEqual([
      expect.objectContaining({ code: 'push-failed', message: 'no route' }),
    ]);
  });

  test.each([
    ['nothing', { unfinished: null }],
    ['another operation', { unfinished: 'op_other' }],
    ['no worktree', { refused: 'WORKTREE_MISSING' }],
  ])('that fails for good is refused while %s is recorded', async (_what, left) => {
    const worktree = failing(() => left);
    await expect(worktree.ask({ kind: 'create' })).resolves.toMatchObject({ code: 'WORKTREE_GIT_FAILED' });
    expect(worktree.steps).toEqual(['planWorktree', 'createWorktree', 'planWorktree']);
  });
});
