/** Looking is asked for once and kept nowhere; the id only has to be new. */
export const worktreeViewId = (unique: string): string => `worktree-view/${unique}`;

export interface WorktreePlace {
  taskId: string;
  hostId: string;
}
