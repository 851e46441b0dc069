import { ApplicationFailure } from '@temporalio/common';
import { messageUnproven } from '../../../platform/crypto/message-proof-shape';
import { rejection } from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';
import { inspection, stubbedWorktrees, to } from '../../support/workflows/worktree';

describe('requests for operations on a worktree', () => {
  const { worktree: aWorktree } = stubbedWorktrees();
  const ready = { state: 'ready' as const };

  test('of the same creation are one, whatever their options; another one is refused with the one that runs', async () => {
    const creating = gate(ready);
    const worktree = aWorktree({ createWorktree: creating.wait });
    const first = worktree.ask({ kind: 'create' }, 'jo');
    await worktree.called('createWorktree');
    const second = worktree.ask({ kind: 'create', leaseSeconds: 60 });
    await expect(worktree.ask({ kind: 'rebase' })).rejects.toMatchObject({
      cause: { type: 'WORKTREE_BUSY', details: [{ kind: 'create', actor: 'jo' }], nonRetryable: true },
    });
    creating.open();
    expect(await second).toEqual(await first);
    expect(worktree.stubs.inputs('createWorktree')).toHaveLength(1);
    expect(worktree.steps).not.toContain('verifyOperation');
  });

  test('of another kind than a creation are one when they are the same', async () => {
    const rebasing = gate(ready);
    const worktree = aWorktree({ rebaseWorktree: rebasing.wait });
    const first = worktree.ask({ kind: 'rebase' });
    await worktree.called('rebaseWorktree');
    const onto = 'a'.repeat(40);
    expect(await rejection(worktree.ask({ kind: 'rebase', onto }))).toBe('WORKTREE_BUSY');
    const second = worktree.ask({ kind: 'rebase' });
    expect(await rejection(worktree.ask({ kind: 'create' }))).toBe('WORKTREE_BUSY');
    rebasing.open();
    expect(await second).toEqual(await first);
    expect(worktree.stubs.inputs('beginWorktree')).toHaveLength(1);
  });

  test('with the first message to a resumed worktree are verified, planned and done', async () => {
    const worktree = aWorktree();
    await expect(worktree.askResumed({ kind: 'rebase' })).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps.filter((name) => name !== 'verifyOperation')).toEqual([
      ...['planWorktree', 'planWorktree', 'beginWorktree'],
      ...['rebaseWorktree', 'inspect'],
    ]);
    expect(worktree.stubs.inputs('verifyOperation')).toHaveLength(1);
    expect(worktree.stubs.inputs('planWorktree').map(({ kind }) => kind)).toEqual([null, 'rebase']);
  });

  test('with the first message to a resumed worktree are waited for while they are verified', async () => {
    const verifying = gate(undefined);
    const worktree = aWorktree({ verifyOperation: verifying.wait });
    const asked = worktree.askResumed({ kind: 'rebase' });
    await worktree.called('planWorktree');
    await worktree.called('verifyOperation');
    verifying.open();
    await expect(asked).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).toContain('rebaseWorktree');
  });

  test('with the first message to a resumed worktree are refused when they cannot be planned', async () => {
    let plans = 0;
    const planWorktree = async () => {
      plans += 1;
      return plans === 1
        ? { hostId: '', target: null, unfinished: null }
        : { status: 'refused' as const, code: 'WORKTREE_MISSING', message: '', details: {} };
    };
    const worktree = aWorktree({ planWorktree });
    await expect(worktree.askResumed({ kind: 'rebase' })).resolves.toMatchObject({ code: 'WORKTREE_MISSING' });
    expect(worktree.steps).not.toContain('beginWorktree');
  });

  test('that are not proven are refused, and nothing is done', async () => {
    const verifyOperation = () => Promise.reject(ApplicationFailure.nonRetryable('forged', messageUnproven));
    const rebasing = gate(ready);
    const unfinished = { operationId: 'op_1', kind: 'rebase' as const, state: 'rebasing' as const };
    const worktree = aWorktree({ plan: { unfinished }, verifyOperation, rebaseWorktree: rebasing.wait });
    await worktree.resume();
    await worktree.called('rebaseWorktree');
    expect(await rejection(worktree.ask({ kind: 'cleanup', force: false }))).toBe(messageUnproven);
    rebasing.open();
    await expect(worktree.handle.result()).resolves.toEqual({ status: 'done' });
    expect(worktree.steps).toEqual(['planWorktree', 'rebaseWorktree', 'verifyOperation']);
  });

  test('do nothing without one: a resumed worktree at rest is left alone', async () => {
    const worktree = aWorktree();
    await worktree.resume();
    await expect(worktree.handle.result()).resolves.toEqual({ status: 'done' });
    expect(worktree.steps).toEqual(['planWorktree']);
    expect(worktree.stubs.inputs('planWorktree')).toEqual([{ taskId: worktree.taskId, kind: null }]);
  });
});

describe("an operator's cancel of an operation", () => {
  const { worktree: aWorktree } = stubbedWorktrees();

  test('is heeded until git is touched', async () => {
    const deciding = gate({ state: 'rebasing' as const });
    const worktree = aWorktree({ beginWorktree: deciding.wait });
    const asked = worktree.ask({ kind: 'rebase' });
    await worktree.called('beginWorktree');
    await worktree.handle.cancel();
    deciding.open();
    await expect(asked).resolves.toMatchObject({ code: 'WORKTREE_CANCELLED' });
    expect(worktree.steps).toEqual(['planWorktree', 'beginWorktree', 'giveUp']);
  });

  test('gives nothing up where there is nothing to do', async () => {
    const deciding = gate({ state: 'ready' as const });
    const worktree = aWorktree({ beginWorktree: deciding.wait });
    const asked = worktree.ask({ kind: 'adopt' });
    await worktree.called('beginWorktree');
    await worktree.handle.cancel();
    deciding.open();
    await expect(asked).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).not.toContain('giveUp');
  });

  test('that comes too late to give it up lets it continue', async () => {
    const deciding = gate({ state: 'rebasing' as const });
    const worktree = aWorktree({ beginWorktree: deciding.wait, giveUp: to('ready') });
    const asked = worktree.ask({ kind: 'rebase' });
    await worktree.called('beginWorktree');
    await worktree.handle.cancel();
    deciding.open();
    await expect(asked).resolves.toMatchObject({ status: 'done' });
    expect(worktree.steps).toContain('rebaseWorktree');
  });

  test('does not end what has begun, nor the wait of its caller', async () => {
    const rebasing = gate({ state: 'ready' as const });
    const worktree = aWorktree({ rebaseWorktree: rebasing.wait });
    const asked = worktree.ask({ kind: 'rebase' });
    await worktree.called('rebaseWorktree');
    await worktree.handle.cancel();
    rebasing.open();
    await expect(asked).resolves.toEqual({ status: 'done', inspection });
    expect(worktree.steps).not.toContain('giveUp');
  });
});
