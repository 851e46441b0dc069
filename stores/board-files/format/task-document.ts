import { type Task, task as taskContract } from '../../../contracts/tasks/task';
import type { FieldIssue } from '../../../platform/errors/app-error';
import { wellFormed } from '../../../platform/text/well-formed';
import { type FrontMatter, FrontMatterError, type Notation, parseFrontMatter, printFrontMatter } from './front-matter';
import { isRecord, plain, withDefaultsFrom } from './plain';

/** The text is not a task; the message names the fields as the file spells them, for the person who mends it. */
export class TaskDocumentError extends Error {
  override readonly name = 'TaskDocumentError';

  constructor(readonly issues: FieldIssue[]) {
    const shown = issues.slice(0, 5).map(({ path, message }) => (path ? `${fileSpelling(path)}: ${message}` : message));
    super([...shown, ...(issues.length > shown.length ? [`and ${issues.length - shown.length} more`] : [])].join('; '));
  }
}

/** Fields are written in this order, those not named here after them in the order they came. */
const fieldOrder = [
  ...['id', 'title', 'type', 'status', 'priority', 'project', 'sprint', 'assignee', 'created', 'updated', 'revision'],
  ...['createdBy', 'updatedBy', 'agent', 'agents', 'executionPolicy', 'git', 'github', 'externalWorkItems'],
  ...['attempt', 'attempts'],
  ...['reviewComments', 'reviewScores', 'review', 'subtasks', 'autoCompleteOnSubtasks', 'verificationSteps'],
  ...['dependencies', 'blockedBy', 'blockedReason', 'automation', 'timeTracking', 'comments', 'observations'],
  ...[
    'attachments',
    'deliverables',
    'position',
    'plan',
    'lessonsLearned',
    'lessonTags',
    'lessonSources',
    'deletedAt',
    'deletedBy',
    'purgeAfter',
  ],
];

/**
 * Reads a task file. Missing fields are filled in: title `Untitled`, the contract's defaults, `writtenAt` for the times, also those of comments. Fields
 * outside the contract, also nested ones, are preserved.
 *
 * @throws TaskDocumentError
 */
export function parseTask(text: string, writtenAt: Date): { task: Task; source: FrontMatter } {
  const source = split(text);
  return { task: taskOf(source, writtenAt), source };
}

/** The task that a front matter and a body are. @throws TaskDocumentError */
export function taskOf(source: FrontMatter, writtenAt: Date): Task {
  const { created, updated, ...fields } = source.fields;
  if (fields.description !== undefined && source.body !== '') {
    throw new TaskDocumentError([
      { path: 'description', message: 'is the text below the front matter and cannot be a field as well' },
    ]);
  }
  const raw: Record<string, unknown> = {
    title: 'Untitled',
    revision: 1,
    description: source.body,
    ...withoutEmptyFields(fields),
    ...(Array.isArray(fields.comments) && { comments: fields.comments.map(withTimestamp(writtenAt)) }),
    createdAt: timeOf(created ?? fields.createdAt, writtenAt),
    updatedAt: timeOf(updated ?? fields.updatedAt, writtenAt),
  };
  return validTask(raw);
}

/** The contract's view of `raw`. @throws TaskDocumentError naming the fields */
export function validTask(raw: Record<string, unknown>): Task {
  const parsed = taskContract.safeParse(raw);
  if (!parsed.success) {
    throw new TaskDocumentError(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
  }
  return withDefaultsFrom(raw, parsed.data) as Task;
}

/** The text of a task's file. With `original`, unchanged fields retain their notation and comments. */
export function printTask(task: Task, how: Notation & { original?: FrontMatter } = {}): string {
  const { fields, body } = partsOfTask(task);
  return printFrontMatter(fields, body, how);
}

/** The fields of a task's file in their order, and its body. */
export function partsOfTask(task: Task): Pick<FrontMatter, 'fields' | 'body'> {
  const { description, createdAt, updatedAt, ...rest } = task;
  const fields: Record<string, unknown> = { ...rest, created: createdAt, updated: updatedAt };
  if (task.subtasks.length === 0) {
    delete fields.subtasks;
  }
  const unordered = Object.keys(fields).filter((name) => !fieldOrder.includes(name));
  const names = [...fieldOrder, ...unordered].filter((name) => fields[name] !== undefined);
  const ordered = Object.fromEntries(names.map((name) => [name, plain(fields[name])]));
  return { fields: ordered, body: wellFormed(description) };
}

function split(text: string): FrontMatter {
  try {
    return parseFrontMatter(text);
  } catch (error) {
    if (error instanceof FrontMatterError) {
      throw new TaskDocumentError([{ path: '', message: error.message }]);
    }
    throw error;
  }
}

/** `project:` with nothing behind it means "no project". Fields outside the contract retain their null. */
function withoutEmptyFields(fields: Record<string, unknown>): Record<string, unknown> {
  const isTaskField = (name: string) => name in taskContract.shape && name !== 'blockedReason';
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== null || !isTaskField(name)));
}

/** A comment as it is, with the time of its file where it has none of its own. */
const withTimestamp = (writtenAt: Date) => (comment: unknown) =>
  isRecord(comment) && (comment.timestamp ?? undefined) === undefined
    ? { ...comment, timestamp: writtenAt.toISOString() }
    : comment;

/** People write `2026-01-31` or a local time; the contract refuses anything that is not a time. */
export function timeOf(value: unknown, absent: Date): unknown {
  if (value === undefined || value === null) {
    return absent.toISOString();
  }
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)) {
    return value;
  }
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? value : time.toISOString();
}

const fileSpelling = (path: string): string => ({ createdAt: 'created', updatedAt: 'updated' })[path] ?? path;
