import { classifyFailure, isRetryable } from '../recovery/classify';
import type { TerminalClaim } from './claim';
import { compileCompletion } from './compile';
import { lostClaim, stoppedClaim } from './unclaimed';

const lost = { reason: 'The worker that ran the agent was lost.', hostReclaimed: true };
const classOf = (claim: TerminalClaim) =>
  classifyFailure(
    compileCompletion('attempt_1', { envelope: undefined, claim, completedAt: '2026-01-01T00:00:00.000Z' }),
  );

describe('completion without a claim', () => {
  test.each(['prepared', 'dispatched', 'running'])(
    'an attempt that was lost with its worker while it was %s is tried again',
    (state) => {
      const claim = lostClaim({ state, reclaimed: { preservedRef: 'refs/board/attempts/attempt_1' } }, lost);
      expect(claim.harness).toEqual({ ended: 'lost', preservedRef: 'refs/board/attempts/attempt_1' });
      expect(isRetryable(classOf(claim) ?? 'unknown')).toBe(true);
    },
  );

  test('one that no worker had been given is not', () => {
    const claim = lostClaim({ state: 'queued' }, { ...lost, reason: 'The workflow of the run was terminated.' });
    expect(claim).toMatchObject({ status: 'interrupted', harness: { ended: 'not-dispatched' } });
    expect(classOf(claim)).toBe('unknown');
  });

  test('one whose host does not answer reports it', () => {
    const claim = lostClaim({ state: 'running' }, { ...lost, hostReclaimed: false });
    expect(claim).toMatchObject({ error: expect.stringContaining('was unreachable'), harness: { ended: 'lost' } });
  });

  test('one that was stopped records who did, and whether there was an agent to stop', () => {
    expect(stoppedClaim({ state: 'running' }, 'user:ada')).toMatchObject({
      summary: 'Stopped by user:ada.',
      harness: { ended: 'stopped' },
    });
    expect(stoppedClaim({ state: 'queued' }, 'user:ada').harness).toEqual({ ended: 'not-dispatched' });
  });
});
