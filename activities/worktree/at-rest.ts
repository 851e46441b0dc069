import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { baseBranchRefusal } from '../../domain/workspaces/base-branch';
import { GitError } from '../../providers/git/git-error';
import { onOtherBranch } from '../../providers/git/refs/other-branch';
import type { WorktreeEvidence } from '../../providers/git/worktrees/worktree-git';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { heldBy, placeOf } from './record';
import { headMoved, inUse, noWorktree, uncommitted, unfinished } from './refusals';
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
): Promise<Seen | Refusal> {
  const taskId = record._id;
  const evidence = await unused(deps, record);
  if ('status' in evidence) {
    return evidence;
  }
  const { headSha, operation } = evidence;
  if (expectedHead !== undefined && headSha !== expectedHead) {
    return headMoved(taskId, expectedHead, headSha);
  }
  if (operation !== null) {
    return unfinished(taskId, { operation, dirty: evidence.dirty });
  }
  if (!commits && evidence.dirty + evidence.untracked > 0) {
    return uncommitted(taskId, evidence);
  }
  return evidence;
}

type Seen = WorktreeEvidence & { headSha: string };

/** The git state of a worktree that nothing uses and that matches its manifest, whatever is unfinished in it; or a refusal. */
export async function unused(deps: WorktreeHostDependencies, record: WorktreeRecord): Promise<Seen | Refusal> {
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
  const { headSha, branch, registered, gitDirMatches } = evidence;
  if (evidence.replaced !== null) {
    const error = new GitError('worktree-replaced', evidence.replaced);
    await recordReplaced(deps, taskId, error);
    return replacedRefusal(record, error);
  }
  if (!registered || !gitDirMatches || branch !== record.branch || headSha === null) {
    const isElsewhere = registered && gitDirMatches && branch !== record.branch;
    const message = isElsewhere
      ? onOtherBranch(record.path, { actual: branch, expected: record.branch })
      : 'The worktree differs from its manifest; inspect it first.';
    return refusal('WORKTREE_MISMATCH', message, {
      taskId,
      path: record.path,
      expectedBranch: record.branch,
      branch,
      registered,
    });
  }
  return { ...evidence, headSha };
}
