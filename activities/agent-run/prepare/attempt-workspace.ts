import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../../contracts/refusal';
import type { TaskEnvelope } from '../../../contracts/runs/launch/contract';
import type { Repository } from '../../../contracts/settings/repository';
import { refusal } from '../../../domain/refusal';
import { baseBranchRefusal } from '../../../domain/workspaces/base-branch';
import type { Baseline, Git } from '../../../providers/git/git';
import { GitError } from '../../../providers/git/git-error';
import type { RepositorySnapshot } from '../../../providers/git/outside-changes';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { hostProblem, type HostProblemDependencies } from '../../shared/host-problem';
import type { WorktreeFences } from '../../worktree/fences';
import { releaseLease, takeLease } from '../../worktree/lease';
import { placeOf } from '../../worktree/record';
import { recordIdentity, recordReplaced, replacedRefusal } from '../../worktree/replaced';
import { repositoryProblem } from './repository-problem';

interface AttemptWorkspaceDependencies extends HostProblemDependencies, Pick<Stores, 'attempts' | 'worktrees'> {
  git: Pick<Git, 'under'>;
  fences: Pick<WorktreeFences, 'take'>;
  now(): Date;
}

/** Where an attempt works, and what was there when it was prepared. */
export interface AttemptWorkspace {
  /** `null` for a task without a repository. */
  envelope: TaskEnvelope['workspace'];
  baseline?: Baseline;
  /** Absent where the repository could not be inspected. */
  surroundings?: RepositorySnapshot | undefined;
}

/** Leases the worktrees that attempts work in, and captures their baselines. */
export function createAttemptWorkspaces(deps: AttemptWorkspaceDependencies) {
  return {
    /**
     * Takes the lease of the worktree of an attempt and captures its baseline; repeated, it is the same lease.
     *
     * @throws ApplicationFailure `RUN_GONE` when the run has ended, or the worktree is not its any more
     */
    async lease(record: AttemptRecord): Promise<AttemptWorkspace | Refusal> {
      const { repository, git: target } = record;
      if (!repository || !target) {
        return { envelope: null };
      }
      // An attempt that was planned by an earlier release, or is tried again.
      const onBase = baseBranchRefusal(record.taskId, repository, target);
      if (onBase) {
        return onBase;
      }
      try {
        const leased = await leaseOf(record, { repository, branch: target.branch });
        return isRefusal(leased) ? leased : await capture(record, { repository, leased });
      } catch (error) {
        if (error instanceof GitError && error.code === 'worktree-replaced') {
          const lost = await recordReplaced(deps, record.taskId, error);
          if (lost) {
            return replacedRefusal(lost, error);
          }
        }
        return (await hostProblem(deps)) ?? repositoryProblem(repository, error);
      }
    },
  };

  async function leaseOf(
    record: AttemptRecord,
    { repository, branch }: { repository: Repository; branch: string },
  ): Promise<WorktreeRecord | Refusal> {
    const { taskId, _id: attemptId, hostId } = record;
    const leased = await takeLease(deps, taskId, attemptId);
    if (isRefusal(leased)) {
      return leased;
    }
    // Checked after the lease is there: a run that ends later releases it, one that had ended before does not any more.
    if (isOver(await deps.attempts.get(attemptId))) {
      await releaseLease(deps, { taskId, attemptId });
      throw runGone(attemptId);
    }
    const isItsOwn = leased.repository === repository.name && leased.branch === branch && leased.hostId === hostId;
    return isItsOwn ? leased : otherWorktree(leased, record);
  }

  async function capture(
    { taskId, _id: attemptId }: AttemptRecord,
    { repository, leased }: { repository: Repository; leased: WorktreeRecord },
  ): Promise<AttemptWorkspace> {
    const fence = await deps.fences.take(taskId, { attemptId, stage: 'prepare' });
    if (!fence) {
      throw runGone(attemptId);
    }
    const git = deps.git.under(fence);
    await git.configureRepository({
      repositoryPath: leased.repositoryPath,
      allowFilters: repository.allowFilters ?? [],
    });
    // Its directory may have been deleted: the branch still has everything that was committed.
    const { path, branch, identity, worktrees } = await git.ensureWorktree(placeOf(leased));
    await recordIdentity(deps, taskId, { identity, fence });
    const [baseline, surroundings] = await Promise.all([
      git.captureBaseline({ worktreePath: path, identity, attemptId }),
      git.snapshotRepository({ worktreePath: path, identity, worktrees }).catch(() => undefined),
    ]);
    const { headSha, dirty, files } = baseline;
    const envelope = { repository: repository.name, path, branch, baseline: { headSha, dirty, files } };
    return { envelope, baseline, surroundings };
  }
}

/** Its worker was asleep while the run moved on. */
export const runGone = (attemptId: string) =>
  ApplicationFailure.nonRetryable(`${attemptId} is no longer prepared.`, 'RUN_GONE');

const isOver = (record: AttemptRecord | undefined): boolean =>
  !record ||
  record.abandonedAt !== undefined ||
  record.completion !== undefined ||
  record.state === 'ended' ||
  record.state === 'refused';

const isRefusal = (leased: WorktreeRecord | Refusal): leased is Refusal => 'status' in leased;

/** The task has been changed since its worktree was made. */
const otherWorktree = ({ repository, branch, hostId, path }: WorktreeRecord, record: AttemptRecord): Refusal =>
  refusal('WORKTREE_MISMATCH', 'The worktree of the task is of another repository, branch or host; remove it first.', {
    taskId: record.taskId,
    worktree: { repository, branch, hostId, path },
    wanted: { repository: record.repository?.name, branch: record.git?.branch, hostId: record.hostId },
  });
