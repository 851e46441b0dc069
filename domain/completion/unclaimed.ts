import type { HarnessEvidence } from '../../contracts/runs/completion';
import { compact } from '../../platform/json/compact';
import type { TerminalClaim } from './claim';

/** How far an attempt without a claim came. */
export interface Unclaimed {
  state: string;
  /** Set when its host took it from a worker that was lost. */
  reclaimed?: { preservedRef?: string; workLost?: string };
}

/** The claim of an attempt that an actor stopped. */
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
 * The claim of an attempt that was lost. One whose worker was lost too is lost even before its agent was started: it is
 * retried; one without a worker was not dispatched.
 */
export function lostClaim(
  attempt: Unclaimed,
  { reason, hostReclaimed }: { reason: string; hostReclaimed: boolean },
): TerminalClaim {
  const dispatched = wasDispatched(attempt) || attempt.reclaimed !== undefined;
  return {
    terminalSource: 'process',
    status: 'interrupted',
    summary: reason,
    error: hostReclaimed
      ? undefined
      : 'The host was unreachable for the cleanup of the run, or could not stop all of its processes: some may still run there.',
    claims: {},
    harness: dispatched ? { ended: 'lost', ...preserved(attempt) } : { ended: 'not-dispatched' },
  };
}

const wasDispatched = ({ state }: Unclaimed): boolean => state === 'dispatched' || state === 'running';

/** What its host has preserved of it, or why it could not. */
export const preserved = ({
  reclaimed: { preservedRef, workLost } = {},
}: Pick<Unclaimed, 'reclaimed'>): Pick<HarnessEvidence, 'preservedRef' | 'workLost'> => ({
  ...compact({ preservedRef, workLost }),
});
