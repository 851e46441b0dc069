import type { WorktreeMerge } from '../../../contracts/runs/worktrees/request';
import { refusal } from '../../../domain/refusal';
import { isMergeBranch, mergeBranchAdvice } from '../../../domain/workspaces/merge-branches';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { atRest } from '../at-rest';
import { freshBase } from '../base';
import type { WorktreeHostDependencies } from '../dependencies';
import { change, remoteOf, workMessage } from '../record';
import { nothingToMerge } from '../refusals';
import type { Begin, Begun } from './beginning';

/** Fetches the base and records which commit is merged into which. */
export async function beginMerge(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<WorktreeMerge & { anyBranch?: boolean }>,
  record: WorktreeRecord,
): Promise<Begun> {
  const { repository, base } = record;
  if (request.anyBranch !== true && !isMergeBranch(await deps.repositories.find(repository), base.branch)) {
    return refusal('WORKTREE_MERGE_BRANCH', mergeBranchAdvice(repository, base.branch), {
      taskId,
      repository,
      branch: base.branch,
    });
  }
  const { commit: commits = false, expectedHead } = request;
  const evidence = await atRest(deps, record, { expectedHead, commits });
  if ('status' in evidence) {
    return evidence;
  }
  const { branch } = base;
  const fresh = await freshBase(deps.git, {
    taskId,
    repositoryPath: record.repositoryPath,
    branch,
    remote: remoteOf(record).remote,
  });
  if ('status' in fresh) {
    return fresh;
  }
  const { headSha } = evidence;
  const commitsFirst = evidence.dirty + evidence.untracked > 0;
  const at = { repositoryPath: record.repositoryPath, ancestor: headSha, descendant: fresh.base.sha };
  if (!commitsFirst && (await deps.git.isAncestor(at))) {
    // Requested again because its answer was lost: what it was about has been merged by it.
    const isMerged = record.history.some(
      (entry) => entry.kind === 'merge' && entry.result === 'done' && entry.headSha === headSha,
    );
    const { branch: from } = record;
    return isMerged
      ? { state: 'ready' }
      : nothingToMerge(taskId, { branch: from, base: branch, headSha, baseSha: fresh.base.sha });
  }
  await change(deps, record, {
    state: commitsFirst ? 'committing' : 'merging',
    identity: evidence.identity,
    recoverable: null,
    operation: {
      ...operation,
      kind: 'merge',
      headSha,
      ontoSha: fresh.base.sha,
      fetchedAt: fresh.base.fetchedAt,
      ...(commitsFirst ? { commitMessage: request.commitMessage ?? workMessage(record) } : {}),
      message: request.message ?? `Merge ${record.branch} into ${branch}\n\nBoard-Task: ${taskId}`,
    },
  });
  return { state: commitsFirst ? 'committing' : 'merging' };
}
