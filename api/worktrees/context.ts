import type { Board } from '../../stores/board-files/board';
import type { RepositoryStore } from '../../stores/repository-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import type { WorktreeLauncher } from './launcher';

/** What the endpoints of worktrees call. */
export interface WorktreesContext {
  board: Pick<Board, 'get'>;
  worktrees: WorktreeStore;
  repositories: Pick<RepositoryStore, 'find'>;
  launcher: WorktreeLauncher;
  now(): Date;
}
