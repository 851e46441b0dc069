import type { Log } from '../../platform/log/log';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import type { ActiveRunStore } from '../../stores/active-run-store';
import type { RepositoryStore } from '../../stores/repository-store';
import type { AuditStore } from '../../stores/audit-store';
import type { WorktreeStore } from '../../stores/worktree-store';
import type { WorktreeFences } from './fences';

/** What the operations on worktrees need on the host that holds them. */
export interface WorktreeHostDependencies {
  worktrees: WorktreeStore;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
  repositories: Pick<RepositoryStore, 'find'>;
  git: Git;
  fences: WorktreeFences;
  hostId: string;
  /** Directory of this host's worktrees, one per task. */
  worktreeDir: string;
  /** Directory of the detached worktrees merges are made in. */
  integrationDir: string;
  /** Verifies that an operation is one that was planned: it names a repository. */
  proofs: ProofVerifier;
  audit: Pick<AuditStore, 'record'>;
  log: Log;
  now(): Date;
}
