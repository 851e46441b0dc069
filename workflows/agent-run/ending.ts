import type { MessageProof } from '../../platform/crypto/message-proof-shape';

/** How the run came to its end, as the workflow saw it; the records behind it are in the stores. */
export type Ending =
  | { by: 'agent' }
  | { by: 'callback'; claimDigest: string }
  /** `proof`: shows a worker that the actor requested it; an operator's stop has none. */
  | { by: 'stop'; actor: string; proof?: MessageProof | undefined }
  /** It ran longer than `agents.timeoutMinutes` allowed when it was launched. */
  | { by: 'timeout'; afterMs: number; hostReclaimed?: boolean }
  | { by: 'lost'; reason: string; hostReclaimed: boolean };

export const timeout = (afterMs: number): Ending => ({ by: 'timeout', afterMs });

/** The end as a sentence for operators. */
export function endOf(ending: Ending, status: string): string {
  switch (ending.by) {
    case 'agent':
      return `The agent ended; the run is ${status}.`;
    case 'callback':
      return `The end was reported; the run is ${status}.`;
    case 'stop':
      return `Stopped by ${ending.actor}; the run is ${status}.`;
    case 'timeout':
      return `It took longer than it may; the run is ${status}.`;
    case 'lost':
      return `${ending.reason} The run is ${status}.`;
  }
}
