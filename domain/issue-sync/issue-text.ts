import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { Task } from '../../contracts/tasks/task';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import { withoutTags } from '../../platform/text/without-tags';

/** What is compared and carried between an issue and its task. */
export interface SyncedFields {
  title: string;
  body: string;
  state: 'open' | 'closed';
}

/** The longest title and description of a task. */
const maxTitle = 200;
const maxDescription = 100_000;
const cutNotice = '\n\n… (the issue has more text)';

/** Names the task that an issue was created for; `nonce` is a secret until the issue exists. */
export interface IssueMarker {
  taskId: string;
  nonce: string;
}

const marker = /<!-- runboard:(task_[A-Za-z0-9_-]{1,59}|TASK-[A-Za-z0-9_-]{1,59}):([0-9a-f]{32}) -->/g;

/** The last marker in the body of an issue. Anyone can write one: it proves nothing unless its nonce is the stored one. */
export function markerIn(body: string): IssueMarker | undefined {
  const [, taskId, nonce] = [...body.matchAll(marker)].at(-1) ?? [];
  return taskId === undefined || nonce === undefined ? undefined : { taskId, nonce };
}

/** Text of a stranger as the board stores it: without markers, control characters and halves of characters. */
const clean = (text: string): string =>
  printable(text.replace(/[\ud800-\udfff]/gu, '\ufffd'))
    .replace(marker, '')
    .trimEnd();

const isTooLong = (body: string): boolean => clean(body).length > maxDescription;

/** Whether a task can have the whole body; otherwise the body is never written from the task. */
export const fitsTask = (issue: Pick<ForgeIssue, 'body'>): boolean => !isTooLong(issue.body);

/** An issue in the terms of a task. */
export function fieldsOfIssue({
  number,
  title,
  body,
  state,
}: Pick<ForgeIssue, 'title' | 'body' | 'state'> & { number: number | string }): SyncedFields {
  const line = withoutTags(clean(cut(title, 4 * maxTitle)).replace(/\s+/g, ' '));
  const text = clean(body);
  const description = isTooLong(body) ? cut(text, maxDescription - cutNotice.length) + cutNotice : text;
  return { title: cut(line, maxTitle) || `Issue ${number}`, body: description, state };
}

/** A task in the same terms. */
export const fieldsOfTask = ({
  title,
  description,
  status,
}: Pick<Task, 'title' | 'description' | 'status'>): SyncedFields => ({
  title,
  body: description.trimEnd(),
  state: status === 'done' ? 'closed' : 'open',
});

/** The body of an issue that is written from a task; `marker` for an issue that was created for it. */
export const issueBody = (body: string, of?: IssueMarker): string =>
  of === undefined ? body : `${body}${body === '' ? '' : '\n\n'}<!-- runboard:${of.taskId}:${of.nonce} -->`;
