import type { Log } from '../../platform/log/log';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { Git } from '../../providers/git/git';
import type { ActiveRunStore } from '../../stores/runs/admission/active-run-store';
import type { ConflictResolutionStore } from '../../stores/runs/workspaces/conflict-resolution-store';
import type { WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import type { RepositoryStore } from '../../stores/settings/repository-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { HostProblemDependencies } from '../shared/host-problem';
import type { WorktreeFences } from './fences';

/** What the operations on worktrees need on the host that has them. */
export interface WorktreeHostDependencies extends HostProblemDependencies {
  worktrees: WorktreeStore;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
  repositories: Pick<RepositoryStore, 'find'>;
  git: Git;
  fences: WorktreeFences;
  /** Directory of this host's worktrees, one per task. */
  worktreeDir: string;
  /** Directory of the detached worktrees merges are made in. */
  integrationDir: string;
  /** Verifies that an operation is one that was planned: it names a repository. */
  proofs: ProofVerifier;
  /** The texts that files in conflict were resolved to. */
  resolutions: Pick<ConflictResolutionStore, 'get'>;
  audit: Pick<AuditStore, 'record'>;
  log: Log;
  now(): Date;
}
