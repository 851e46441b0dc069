import type { WorktreeMerge } from '../../../contracts/runs/worktrees/request';
import { refusal } from '../../../domain/refusal';
import { isMergeBranch, mergeBranchAdvice } from '../../../domain/workspaces/merge-branches';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { atRest } from '../at-rest';
import { freshBase } from '../base';
import type { WorktreeHostDependencies } from '../dependencies';
import { change, remoteOf } from '../record';
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
  const evidence = await atRest(deps, record, request.expectedHead);
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
  await change(deps, record, {
    state: 'merging',
    identity: evidence.identity,
    recoverable: null,
    operation: {
      ...operation,
      kind: 'merge',
      headSha: evidence.headSha,
      ontoSha: fresh.base.sha,
      fetchedAt: fresh.base.fetchedAt,
      message: request.message ?? `Merge ${record.branch} into ${branch}\n\nBoard-Task: ${taskId}`,
    },
  });
  return { state: 'merging' };
}
