import type { HarnessEvidence } from '../../contracts/completion';
import type { TerminalClaim } from './claim';

/** How far an attempt came that nobody has claimed anything for. */
export interface Unclaimed {
  state: string;
  /** Set when its host took it from a worker that was lost. */
  reclaimed?: { preservedRef?: string; workLost?: string };
}

/** What stands for an attempt that somebody stopped. */
export function stoppedClaim(attempt: Unclaimed, actor: string): TerminalClaim {
  return {
    terminalSource: 'operator-interruption',
    status: 'interrupted',
    summary: `Stopped by ${actor}.`,
    claims: {},
    harness: wasDispatched(attempt) ? { ended: 'stopped', ...preserved(attempt) } : { ended: 'not-dispatched' },
  };
}

/**
 * What stands for an attempt that was lost. One whose worker was lost with it is that also when its agent had not been
 * started yet: it is tried again; one that nobody had been given was not dispatched.
 */
export function lostClaim(
  attempt: Unclaimed,
  { reason, hostReclaimed }: { reason: string; hostReclaimed: boolean },
): TerminalClaim {
  const given = wasDispatched(attempt) || attempt.reclaimed !== undefined;
  return {
    terminalSource: 'process',
    status: 'interrupted',
    summary: reason,
    error: hostReclaimed
      ? undefined
      : 'The host could not be reached to clean up after the run, or could not end all of it: some of it may still run there.',
    claims: {},
    harness: given ? { ended: 'lost', ...preserved(attempt) } : { ended: 'not-dispatched' },
  };
}

const wasDispatched = ({ state }: Unclaimed): boolean => state === 'dispatched' || state === 'running';

/** What its host has kept of it, or why it could not. */
export const preserved = ({
  reclaimed: { preservedRef, workLost } = {},
}: Pick<Unclaimed, 'reclaimed'>): Pick<HarnessEvidence, 'preservedRef' | 'workLost'> => ({
  ...(preservedRef === undefined ? {} : { preservedRef }),
  ...(workLost === undefined ? {} : { workLost }),
});
