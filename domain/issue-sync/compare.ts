import type { ForgeIssue } from '../../contracts/integrations/forge';
import type { IssueSyncMode } from '../../contracts/integrations/issue-sync';
import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { digestOf } from '../../platform/json/digest';
import { fieldsOfIssue, fieldsOfTask, fitsTask, type SyncedFields } from './issue-text';
import {
  fieldsOfLabels,
  type LabelChange,
  labelChange,
  type LabelField,
  type LabelFields,
  labelFields,
  needsLabel,
} from './labels';

type Field = keyof SyncedFields;
type Digests = Record<Field, string>;

/** Digests of both sides when they were last made equal; of the labels, as the issue had them. */
export interface SyncBase {
  issue: Digests;
  task: Digests;
  labels: string;
  /** The values of the labels and of the task; absent in what was compared before labels were written. */
  fields?: { issue: LabelFields; task: LabelFields };
}

/** What makes an issue and its task equal again. */
export interface SyncPlan {
  task: Partial<Pick<Task, 'title' | 'description' | 'status' | 'type' | 'priority'>>;
  issue: Partial<SyncedFields>;
  /** Absent when the labels stay as they are. */
  labels?: LabelChange;
  /** Fields that both sides have changed, in which one of them was overwritten. */
  conflicts: (Field | LabelField)[];
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
  /** The labels that issues are selected by. */
  filter?: readonly string[];
}

/**
 * Compares an issue with its task, field by field. A field that one side has changed since the last time is written to the
 * other; where both have, the issue's value wins unless issues are only written to. A side that the mode does not write is left
 * alone. Neither clock is compared with the other.
 */
export function planSync(pair: Pair): SyncPlan {
  const { issue, task, base, mode } = pair;
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
  planLabels(plan, pair);
  return plan;
}

/** The same for the values of labels. A label that a person removes states nothing; no other label of a person is touched. */
function planLabels(plan: SyncPlan, { issue: { labels }, task, base, mode, filter = [] }: Pair): void {
  const theirs = fieldsOfLabels(labels);
  for (const field of labelFields) {
    const labelValue = theirs[field];
    if (labelValue === task[field]) {
      continue;
    }
    const issueChanged = base?.fields ? base.fields.issue[field] !== labelValue : base?.labels !== labelsDigest(labels);
    const taskChanged = base === undefined || (base.fields !== undefined && base.fields.task[field] !== task[field]);
    const toTask = isInbound(mode) && issueChanged && labelValue !== undefined;
    const toIssue = !toTask && isOutbound(mode) && taskChanged && needsLabel(field, task, labelValue);
    const change = toIssue ? labelChange(field, task[field], { labels, filter }) : undefined;
    if (toTask) {
      Object.assign(plan.task, { [field]: labelValue });
    }
    if (change) {
      const { fields = [], add = [], remove = [] } = plan.labels ?? {};
      plan.labels = {
        fields: [...fields, field],
        add: [...add, ...change.add],
        remove: [...remove, ...change.remove],
      };
    }
    if (base?.fields !== undefined && issueChanged && labelValue !== undefined && taskChanged && (toTask || change)) {
      plan.conflicts.push(field);
    }
  }
}

/** Whether a plan changes the issue. */
export const writesIssue = ({ issue, labels }: SyncPlan): boolean =>
  Object.keys(issue).length > 0 || labels !== undefined;

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
  return {
    issue: digests('issue', theirs),
    task: digests('task', ours),
    labels: labelsDigest(after.issue.labels),
    fields: nextLabelFields(after, { plan, base }),
  };
}

function nextLabelFields(
  { issue, task }: Pick<Pair, 'issue' | 'task'>,
  { plan, base }: { plan: SyncPlan; base?: SyncBase | undefined },
): NonNullable<SyncBase['fields']> {
  const labelled = fieldsOfLabels(issue.labels);
  const next: NonNullable<SyncBase['fields']> = { issue: {}, task: {} };
  for (const field of labelFields) {
    const isCarried =
      labelled[field] === task[field] || field in plan.task || plan.labels?.fields.includes(field) === true;
    const before = isCarried ? undefined : base?.fields;
    Object.assign(next.issue, compact({ [field]: before ? before.issue[field] : labelled[field] }));
    Object.assign(next.task, compact({ [field]: before ? before.task[field] : task[field] }));
  }
  return next;
}

const isInTask = (field: Field, { task }: SyncPlan): boolean =>
  ({ title: task.title, body: task.description, state: task.status })[field] !== undefined;

/** Whether a task still is as it was when it was compared last: its issue need not be read. */
export const isTaskUnchanged = (task: Task, base: SyncBase): boolean => {
  const ours = fieldsOfTask(task);
  return (
    fields.every((field) => base.task[field] === digestOf(ours[field])) &&
    labelFields.every((field) => base.fields === undefined || base.fields.task[field] === task[field])
  );
};
