import type { Task } from '../../../contracts/tasks/task';
import type { HttpContext } from '../../../platform/http/context';
import { entityTag } from '../../../platform/http/limits/precondition';
import { answersNotModified, RawJson } from '../../../platform/http/response';
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

/** A task of the board as it is sent. */
interface TaskReply {
  tag: string;
  revision: string;
  lastModified: string;
  json: RawJson;
}

/** Tasks of the board are frozen, and the same object until they change. */
const replies = new WeakMap<Task, TaskReply>();

function replyOf(task: Task): TaskReply {
  let reply = replies.get(task);
  if (!reply) {
    reply = {
      tag: taskTag(task),
      revision: String(task.revision),
      lastModified: new Date(task.updatedAt).toUTCString(),
      json: new RawJson(JSON.stringify(task), task),
    };
    replies.set(task, reply);
  }
  return reply;
}

/** Sends a task of the board with its headers; `undefined` for a caller that has this version already (304). */
export function answerTask(ctx: HttpContext, task: Task): RawJson | undefined {
  const { tag, revision, lastModified, json } = replyOf(task);
  ctx.set('X-Resource-Revision', revision);
  ctx.set('Last-Modified', lastModified);
  return answersNotModified(ctx, tag) ? undefined : json;
}
