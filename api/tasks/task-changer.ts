import type { Task } from '../../contracts/task';
import type { AuthContext } from '../../platform/http/auth';
import type { HttpContext } from '../../platform/http/context';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Board } from '../../stores/board-files/types';
import { setTaskHeaders } from './present';

/** The parts of a request that a change of a task is made from. */
export interface TaskChangeRequest {
  params: { taskId: string };
  auth: Pick<AuthContext, 'actor'>;
  header: (name: string) => string | undefined;
  /** A body may state the task's revision, after the headers. */
  body?: { expectedRevision?: number };
}

/**
 * Changes a task as one step under its lock, if it is at the revision the caller states, and sets the headers of the
 * task it answers.
 *
 * @param change as in {@link Board.update}: may run more than once, so ids and times are made before
 */
export type ChangeTask = (
  request: TaskChangeRequest,
  ctx: HttpContext,
  change: (current: Task) => Partial<Task>,
) => Promise<Task>;

export function createTaskChanger(board: Pick<Board, 'get' | 'update'>): ChangeTask {
  return async ({ params: { taskId }, auth, header, body }, ctx, change) => {
    const stated = statedRevisions('task', taskId, { header, bodyRevision: body?.expectedRevision });
    const revision = await expectedRevision(stated, async () => (await board.get(taskId))?.task.revision);
    const changed = await board.update(taskId, change, { actor: auth.actor, expectedRevision: revision });
    setTaskHeaders(ctx, changed);
    return changed;
  };
}
