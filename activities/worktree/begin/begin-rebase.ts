import type { WorktreeRebase } from '../../../contracts/runs/worktrees/request';
import { refusal } from '../../../domain/refusal';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { atRest } from '../at-rest';
import { freshBase } from '../base';
import type { WorktreeHostDependencies } from '../dependencies';
import { change, remoteOf } from '../record';
import type { Begin, Begun } from './beginning';

/** Fetches the base and records the exact commit the branch is rebased onto. */
export async function beginRebase(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<WorktreeRebase>,
  record: WorktreeRecord,
): Promise<Begun> {
  const evidence = await atRest(deps, record, request);
  if ('status' in evidence) {
    return evidence;
  }
  const { repositoryPath } = record;
  const fresh = await freshBase(deps.git, {
    taskId,
    repositoryPath,
    branch: record.base.branch,
    remote: remoteOf(record).remote,
  });
  if ('status' in fresh) {
    return fresh;
  }
  const { sha, fetchedAt } = fresh.base;
  const ontoSha = request.onto ?? sha;
  if (ontoSha !== sha && !(await deps.git.isAncestor({ repositoryPath, ancestor: ontoSha, descendant: sha }))) {
    return refusal('WORKTREE_NOT_A_BASE', `The commit ${ontoSha} is not on ${record.base.branch}.`, {
      taskId,
      onto: ontoSha,
      base: sha,
    });
  }
  await change(deps, record, {
    state: 'rebasing',
    identity: evidence.identity,
    recoverable: null,
    operation: {
      ...operation,
      kind: 'rebase',
      headSha: evidence.headSha,
      ontoSha,
      fetchedAt,
      ...(request.onConflict === 'keep' ? { keepConflict: true } : {}),
    },
  });
  return { state: 'rebasing' };
}
