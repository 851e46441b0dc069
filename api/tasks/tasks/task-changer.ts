import type { Task } from '../../../contracts/tasks/task';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { HttpContext } from '../../../platform/http/context';
import type { Board, TaskChange, Writer } from '../../../stores/board-files/types';
import { statedRevision } from '../../revisions';
import { assertNotArchived } from './locations';
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
 * Changes a task as one step under its lock, if it is at the revision the caller states, and sets the headers of the task it
 * returns. A task in the archive is refused with 409.
 *
 * @param change as in {@link Board.update}: may run more than once, so ids and times are made before
 */
export type ChangeTask = (request: TaskChangeRequest, ctx: HttpContext, change: TaskChange) => Promise<Task>;

/** Who writes and the revision they state. @throws AppError 400 for a header that is no revision of this task */
export async function writerOf(
  board: Pick<Board, 'get'>,
  { params: { taskId }, auth, header, body }: TaskChangeRequest,
): Promise<Writer> {
  const resource = { type: 'task', id: taskId, current: async () => (await board.get(taskId))?.task };
  const expectedRevision = await statedRevision(resource, { header, bodyRevision: body?.expectedRevision });
  return { actor: auth.actor, expectedRevision };
}

export function createTaskChanger(board: Pick<Board, 'get' | 'update'>): ChangeTask {
  return async (request, ctx, change) => {
    const changed = await board.update(
      request.params.taskId,
      (current, location) => {
        assertNotArchived(current, location);
        return change(current, location);
      },
      await writerOf(board, request),
    );
    setTaskHeaders(ctx, changed);
    return changed;
  };
}
