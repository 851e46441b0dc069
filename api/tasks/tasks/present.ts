import type { Task } from '../../../contracts/tasks/task';
import type { HttpContext } from '../../../platform/http/context';
import { entityTag } from '../../../platform/http/limits/precondition';

export const taskTag = ({ id, revision }: Task): string => entityTag({ type: 'task', id, revision });

/** The headers of every response that is one task. */
export function setTaskHeaders(ctx: HttpContext, task: Task): void {
  ctx.set('ETag', taskTag(task));
  ctx.set('X-Resource-Revision', String(task.revision));
  ctx.set('Last-Modified', new Date(task.updatedAt).toUTCString());
  // Cached by the caller, but revalidated before every use: a stale revision would make its next patch fail.
  ctx.set('Cache-Control', 'private, no-cache');
}
