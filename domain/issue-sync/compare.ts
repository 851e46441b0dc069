import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { IssueSyncMode } from '../../contracts/integrations/issue-sync';
import type { Task } from '../../contracts/tasks/task';
import { digestOf } from '../../platform/json/digest';
import { fieldsOfIssue, fieldsOfLabels, fieldsOfTask, fitsTask, type SyncedFields } from './issue-text';

type Field = keyof SyncedFields;
type Digests = Record<Field, string>;

/** Digests of both sides when they were last made equal; of the labels, as the issue had them. */
export interface SyncBase {
  issue: Digests;
  task: Digests;
  labels: string;
}

/** What makes an issue and its task equal again. */
export interface SyncPlan {
  task: Partial<Pick<Task, 'title' | 'description' | 'status' | 'type' | 'priority'>>;
  issue: Partial<SyncedFields>;
  /** Fields that both sides have changed, in which one of them was overwritten. */
  conflicts: Field[];
  /** Whether the description was changed and cannot be written to an issue whose text is longer than a task's. */
  bodyTooLong: boolean;
}

const fields: readonly Field[] = ['title', 'body', 'state'];

/** Whether issues may change tasks, and tasks issues. */
export const isInbound = (mode: IssueSyncMode): boolean => mode === 'inbound' || mode === 'bidirectional';
export const isOutbound = (mode: IssueSyncMode): boolean => mode === 'outbound' || mode === 'bidirectional';

const labelsDigest = (labels: readonly string[]): string => digestOf([...labels].sort());

export interface Pair {
  issue: ForgeIssue;
  task: Task;
  /** Absent when the two were linked and never compared. */
  base: SyncBase | undefined;
  mode: IssueSyncMode;
}

/**
 * Compares an issue with its task, field by field. A field that one side has changed since the last time is written to the
 * other; where both have, the issue's value wins unless issues are only written to. A side that the mode does not write is left
 * alone. Neither clock is compared with the other.
 */
export function planSync({ issue, task, base, mode }: Pair): SyncPlan {
  const theirs = fieldsOfIssue(issue);
  const ours = fieldsOfTask(task);
  const plan: SyncPlan = { task: {}, issue: {}, conflicts: [], bodyTooLong: false };
  for (const field of fields) {
    if (theirs[field] === ours[field]) {
      continue;
    }
    const issueChanged = base === undefined || base.issue[field] !== digestOf(theirs[field]);
    const taskChanged = base === undefined || base.task[field] !== digestOf(ours[field]);
    const toTask = isInbound(mode) && issueChanged;
    const toIssue = !toTask && isOutbound(mode) && taskChanged;
    if (base !== undefined && issueChanged && taskChanged && (toTask || toIssue)) {
      plan.conflicts.push(field);
    }
    if (toTask) {
      Object.assign(plan.task, taskChange(field, theirs));
    } else if (toIssue && field === 'body' && !fitsTask(issue)) {
      plan.bodyTooLong = true;
    } else if (toIssue) {
      Object.assign(plan.issue, { [field]: ours[field] });
    }
  }
  if (isInbound(mode) && base?.labels !== labelsDigest(issue.labels)) {
    Object.assign(plan.task, changedOnly(fieldsOfLabels(issue.labels), task));
  }
  return plan;
}

function taskChange(field: Field, { title, body, state }: SyncedFields): SyncPlan['task'] {
  switch (field) {
    case 'title':
      return { title };
    case 'body':
      return { description: body };
    case 'state':
      return { status: state === 'closed' ? 'done' : 'todo' };
  }
}

const changedOnly = (wanted: ReturnType<typeof fieldsOfLabels>, task: Task): ReturnType<typeof fieldsOfLabels> => ({
  ...(wanted.type === undefined || wanted.type === task.type ? {} : { type: wanted.type }),
  ...(wanted.priority === undefined || wanted.priority === task.priority ? {} : { priority: wanted.priority }),
});

/**
 * The base after a plan was carried out. A field that is equal on both sides, or that one side was written in, is the new base;
 * of another the earlier one is kept, so that a change that the mode does not carry is carried once the mode does.
 *
 * @param after both sides as they are now
 */
export function nextBase(
  after: Pick<Pair, 'issue' | 'task'>,
  { plan, base }: { plan: SyncPlan; base?: SyncBase | undefined },
): SyncBase {
  const theirs = fieldsOfIssue(after.issue);
  const ours = fieldsOfTask(after.task);
  const carried = (field: Field): boolean =>
    base === undefined || theirs[field] === ours[field] || field in plan.issue || isInTask(field, plan);
  const digests = (side: 'issue' | 'task', values: SyncedFields): Digests => {
    const of = (field: Field): string => (carried(field) ? digestOf(values[field]) : (base?.[side][field] ?? ''));
    return { title: of('title'), body: of('body'), state: of('state') };
  };
  return { issue: digests('issue', theirs), task: digests('task', ours), labels: labelsDigest(after.issue.labels) };
}

const isInTask = (field: Field, { task }: SyncPlan): boolean =>
  ({ title: task.title, body: task.description, state: task.status })[field] !== undefined;

/** Whether a task still is as it was when it was compared last: its issue need not be read. */
export const isTaskUnchanged = (task: Task, base: SyncBase): boolean => {
  const ours = fieldsOfTask(task);
  return fields.every((field) => base.task[field] === digestOf(ours[field]));
};
