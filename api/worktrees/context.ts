import type { Board } from '../../stores/board-files/board';
import type { WorktreeStore } from '../../stores/worktree-store';
import type { WorktreeLauncher } from './launcher';

/** What the endpoints of worktrees call. */
export interface WorktreesContext {
  board: Pick<Board, 'get'>;
  worktrees: WorktreeStore;
  launcher: WorktreeLauncher;
  now(): Date;
}
