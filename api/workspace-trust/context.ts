import type { Board } from '../../stores/board-files/board';
import type { HostStore } from '../../stores/host-store';
import type { RepositoryStore } from '../../stores/repository-store';
import type { TraceStore } from '../../stores/trace-store';
import type { TrustStore } from '../../stores/trust-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import type { TrustLauncher } from './launcher';

/** What the endpoints of workspace trust call. */
export interface TrustContext {
  board: Pick<Board, 'get'>;
  repositories: Pick<RepositoryStore, 'find'>;
  worktrees: Pick<WorktreeStore, 'get'>;
  hosts: Pick<HostStore, 'anyLive'>;
  trust: TrustStore;
  launcher: TrustLauncher;
  traces: Pick<TraceStore, 'record'>;
  now(): Date;
}
