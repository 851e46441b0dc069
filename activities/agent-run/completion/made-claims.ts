import { preserved, type TerminalClaim } from '../../../domain/completion';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

/** The claim for a run that took too long, with what its agent had to show by then. */
export function overtime({ claim, reclaimed, provider }: AttemptRecord, afterMs: number | undefined): TerminalClaim {
  const summary = `The run took longer than ${durationOf(afterMs)} and was ended.`;
  return {
    ...(claim ?? { claims: {} }),
    terminalSource: provider === 'acp' ? 'stream' : 'process',
    status: 'failed',
    summary,
    error: summary,
    harness: { ...claim?.harness, ...preserved({ reclaimed }), ended: 'timeout' },
  };
}

const durationOf = (ms: number | undefined): string => {
  if (ms === undefined) {
    return 'it may';
  }
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
};

/** The claim for a run that never came to its agent. */
export const notDispatched = (reason: string): TerminalClaim => ({
  terminalSource: 'process',
  status: 'failed',
  summary: reason,
  error: reason,
  claims: {},
  harness: { ended: 'not-dispatched' },
});
