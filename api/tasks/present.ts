import type { Task } from '../../contracts/task';
import type { HttpContext } from '../../platform/http/context';
import { entityTag } from '../../platform/http/precondition';

export const taskTag = ({ id, revision }: Task): string => entityTag({ type: 'task', id, revision });

/** The headers every answer that is one task carries. */
export function setTaskHeaders(ctx: HttpContext, task: Task): void {
  ctx.set('ETag', taskTag(task));
  ctx.set('X-Resource-Revision', String(task.revision));
  ctx.set('Last-Modified', new Date(task.updatedAt).toUTCString());
  // Kept by the caller, but asked about before every use: a stale revision would make its next patch fail.
  ctx.set('Cache-Control', 'private, no-cache');
}
