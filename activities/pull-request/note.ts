import { createHash } from 'node:crypto';
import type { StoredPullRequest } from '../../contracts/integrations/pull-request';
import { maxComments } from '../../contracts/tasks/comment';
import type { Task } from '../../contracts/tasks/task';

/** What the task shows of its pull request: where it is, and with a comment that it was merged. Nothing that it shows already. */
export function noteOf(task: Task, { number, url, state }: StoredPullRequest, now: Date): Partial<Task> {
  const isNamed = task.git?.prNumber === number && task.git.prUrl === url;
  const comments = task.comments ?? [];
  const id = `comment_${createHash('sha256').update(`merged\n${url}`).digest('hex').slice(0, 12)}`;
  const isNew = state === 'merged' && comments.length < maxComments && comments.every((one) => one.id !== id);
  const text = `Pull request ${number} was merged: ${url}`.slice(0, 2_000);
  const note = { id, author: 'forge', text, timestamp: now.toISOString(), revision: 1 };
  return {
    ...(isNamed ? {} : { git: { ...task.git, prUrl: url, prNumber: number } }),
    ...(isNew ? { comments: [...comments, note] } : {}),
  };
}
