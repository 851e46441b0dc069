import type { Task } from '../../../contracts/tasks/task';
import type { HttpContext } from '../../../platform/http/context';
import { entityTag } from '../../../platform/http/limits/precondition';
import { setRevision } from '../../revisions';

const versioned = ({ id, revision }: Task) => ({ type: 'task', id, revision });

export const taskTag = (task: Task): string => entityTag(versioned(task));

/** The headers of every response that is one task. */
export function setTaskHeaders(ctx: HttpContext, task: Task): void {
  setRevision(ctx, versioned(task));
  ctx.set('Last-Modified', new Date(task.updatedAt).toUTCString());
  // Cached by the caller, but revalidated before every use: a stale revision would make its next patch fail.
  ctx.set('Cache-Control', 'private, no-cache');
}
