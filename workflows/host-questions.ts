import type { PreviewInput } from '../activities/prepare';
import type { Signed } from './message-proofs';
import type { LaunchRefusal } from '../contracts/launch';
import type { LaunchPreview } from '../contracts/launch-manifest';
import type { WorktreeInspection } from '../contracts/worktree';

/** The Nexus service that every host has on its queue. */
export const hostService = 'board.host';

/**
 * What a host is asked by somebody who waits: the operations of its Nexus service. Questions only: they change nothing, so
 * that nothing is lost when an answer is; what changes something is a workflow.
 */
export interface HostQuestions {
  /** Compiles a launch without an attempt, as the API has signed it. */
  preview: { input: PreviewInput & Signed; answer: LaunchPreview | LaunchRefusal };
  /** Looks at the worktree of a task. */
  inspect: { input: { taskId: string } & Signed; answer: WorktreeInspection };
}
