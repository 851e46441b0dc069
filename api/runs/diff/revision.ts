import type { RequestedRevision } from '../../../contracts/runs/diff';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { attemptOfTask } from '../attempts/attempt';
import type { DiffContext } from './context';

/** How many attempts of a task, the newest, lead to commits that may be compared. */
const maxTips = 50;

/**
 * What a selector asks a host for. A checkpoint and an attempt are the commits that our records have of them: the references
 * in the repository, agents can write.
 *
 * @param side of an attempt: how it began, or how it ended
 * @throws AppError 404 when the task has no such checkpoint or attempt, or the attempt no such state
 */
export async function revisionOf(
  context: DiffContext,
  taskId: string,
  { selector, side }: { selector: string; side: 'from' | 'to' },
): Promise<RequestedRevision> {
  const [name, id = ''] = selector.split(':', 2);
  switch (name) {
    case 'worktree':
    case 'head':
    case 'merge-base':
    case 'base':
      return { kind: name };
    case 'checkpoint': {
      const checkpoint = await context.checkpoints.get(id);
      assertFound(checkpoint?.taskId === taskId ? checkpoint : undefined, 'checkpoint', id);
      return { kind: 'stored', commit: checkpoint?.commit ?? '' };
    }
    case 'attempt': {
      const attempt = await attemptOfTask(context, taskId, id);
      const commit = side === 'from' ? beginningOf(attempt) : await endOf(context, attempt);
      return { kind: 'stored', commit: commit ?? missing(id, side) };
    }
    default:
      return { kind: 'commit', commit: selector };
  }
}

/** The worktree as it was when the attempt began, with what was not committed. */
const beginningOf = ({ baseline }: AttemptRecord): string | undefined => baseline?.snapshot.commit;

/** The last checkpoint of an ended attempt if it was made at its last commit, else that commit. */
async function endOf({ checkpoints }: DiffContext, { _id, completion }: AttemptRecord): Promise<string | undefined> {
  const headSha = completion?.harness.headSha;
  if (headSha === undefined) {
    return undefined;
  }
  const last = await checkpoints.latest(_id);
  return last?.headSha === headSha ? last.commit : headSha;
}

function missing(attemptId: string, side: 'from' | 'to'): never {
  throw new AppError('REVISION_NOT_FOUND', {
    status: 404,
    message:
      side === 'from'
        ? 'The attempt has no recorded beginning: it was not prepared in a worktree.'
        : 'The attempt has no recorded end: it has not ended, or nothing was seen of its worktree. Compare with to=worktree.',
    details: { attemptId },
  });
}

/** Commits at which attempts of the task began and ended. */
export async function tipsOf({ attempts }: DiffContext, taskId: string): Promise<string[]> {
  const { items } = await attempts.list(taskId, { limit: maxTips });
  const commits = items.flatMap(({ baseline, completion }) => [baseline?.headSha, completion?.harness.headSha]);
  return [...new Set(commits.filter((commit) => commit !== undefined))];
}
