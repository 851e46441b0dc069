import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { baseBranchRefusal } from '../../domain/workspaces/base-branch';
import { GitError } from '../../providers/git/git-error';
import type { WorktreeEvidence } from '../../providers/git/worktrees/worktree-git';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { heldBy, placeOf } from './record';
import { headMoved, inUse, noWorktree, uncommitted } from './refusals';
import { recordReplaced, replacedRefusal } from './replaced';

/**
 * The git state of a worktree that is unused and matches its manifest; or why it cannot be rebased, committed or merged now.
 *
 * @param request.commits whether the operation commits what is not committed
 */
export async function atRest(
  deps: WorktreeHostDependencies,
  record: WorktreeRecord,
  { expectedHead, commits = false }: { expectedHead?: string | undefined; commits?: boolean },
): Promise<(WorktreeEvidence & { headSha: string }) | Refusal> {
  const taskId = record._id;
  if (record.state !== 'ready') {
    return noWorktree(taskId);
  }
  const repository = await deps.repositories.find(record.repository);
  const target = { branch: record.branch, baseBranch: record.base.branch };
  const onBase = repository && baseBranchRefusal(taskId, repository, target);
  if (onBase) {
    return onBase;
  }
  const attemptId = (await deps.activeRuns.holder(taskId)) ?? heldBy(record, deps.now());
  if (attemptId !== null) {
    return inUse(taskId, attemptId);
  }
  const evidence = await deps.git.inspectWorktree(placeOf(record));
  const { headSha, branch, operation, registered, gitDirMatches } = evidence;
  if (evidence.replaced !== null) {
    const error = new GitError('worktree-replaced', evidence.replaced);
    await recordReplaced(deps, taskId, error);
    return replacedRefusal(record, error);
  }
  if (!registered || !gitDirMatches || branch !== record.branch || headSha === null) {
    return refusal('WORKTREE_MISMATCH', 'The worktree differs from its manifest; inspect it first.', {
      taskId,
      path: record.path,
      expectedBranch: record.branch,
      branch,
      registered,
    });
  }
  if (expectedHead !== undefined && headSha !== expectedHead) {
    return headMoved(taskId, expectedHead, headSha);
  }
  if (operation !== null) {
    const message = `A ${operation} is unfinished in the worktree; finish or abort it first.`;
    return refusal('WORKTREE_DIRTY', message, { taskId, dirty: evidence.dirty, operation });
  }
  if (!commits && evidence.dirty + evidence.untracked > 0) {
    return uncommitted(taskId, evidence);
  }
  return { ...evidence, headSha };
}
