import type { WorktreeCommit } from '../../../contracts/runs/worktrees/request';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { atRest } from '../at-rest';
import type { WorktreeHostDependencies } from '../dependencies';
import { change, workMessage } from '../record';
import { nothingToCommit } from '../refusals';
import type { Begin, Begun } from './beginning';

/** Records that what is not committed is to be committed. */
export async function beginCommit(
  deps: WorktreeHostDependencies,
  { taskId, operation, request }: Begin<WorktreeCommit>,
  record: WorktreeRecord,
): Promise<Begun> {
  const { expectedHead, message } = request;
  const evidence = await atRest(deps, record, { expectedHead, commits: true });
  if ('status' in evidence) {
    return evidence;
  }
  const { headSha, identity } = evidence;
  if (evidence.dirty + evidence.untracked === 0) {
    return nothingToCommit(taskId, headSha);
  }
  const commitMessage = message ?? workMessage(record);
  await change(deps, record, {
    state: 'committing',
    identity,
    recoverable: null,
    operation: { ...operation, kind: 'commit', headSha, commitMessage },
  });
  return { state: 'committing' };
}
