import type { Signed } from '../message-proofs';

/** Looking is asked for once and kept nowhere; the id only has to be new. */
export const worktreeViewId = (unique: string): string => `worktree-view/${unique}`;

/** One that is to be opened is signed by the API. */
export interface WorktreePlace extends Signed {
  taskId: string;
  hostId: string;
}
