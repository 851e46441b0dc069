import type { Refusal } from '../../contracts/refusal';
import type { AskedFor } from '../worktree/messages';

/** One operation at a time on the pull request of a task: the id is the lock. */
export const pullRequestId = (taskId: string): string => `pull-request/${taskId}`;

/** An operation that is in the stores, by its id: only what is written there is done. */
export interface PullRequestInput {
  taskId: string;
  operationId: string;
  /** The signed request to commit what is not committed; absent where nothing is pushed. */
  commit?: AskedFor;
  /** Whether a round of the synchronisation reads it, which waits for a forge that asks to wait. */
  isPolled?: true;
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** How an operation ended, and which one: a request may have met another one that was about to end. */
export interface PullRequestOutcome {
  operationId: string;
  refused: Refusal | null;
}
