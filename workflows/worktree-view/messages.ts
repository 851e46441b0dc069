import type { Signed } from '../message-proofs';

/** A view is requested once and not stored; the id only has to be new. */
export const worktreeViewId = (unique: string): string => `worktree-view/${unique}`;

/** One that is to be opened is signed by the API. */
export interface WorktreeLocation extends Signed {
  taskId: string;
  hostId: string;
}
