import type { Task } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';

/** The fields of a task that labels say. */
export type LabelFields = Partial<Pick<Task, 'type' | 'priority'>>;
export type LabelField = keyof LabelFields;
export const labelFields: readonly LabelField[] = ['type', 'priority'];

/** Labels that are added to an issue, and those of the same field that are removed. */
export interface LabelChange {
  fields: LabelField[];
  add: string[];
  remove: string[];
}

const priorities: readonly string[] = ['low', 'medium', 'high', 'critical'] satisfies Task['priority'][];
/** The defaults of a task, which need no label. */
const usual: Required<LabelFields> = { type: 'code', priority: 'medium' };
/** The longest label that GitHub takes. */
const maxLabel = 50;

const labelled = /^((type|priority)\s*(?:::?|\/)\s*)([a-z0-9][a-z0-9-]{0,49})$/i;

/** The field that a label such as `priority: high`, `type/bug` or `priority::low` states; any other label is left to people. */
function parse(label: string): { field: LabelField; prefix: string; value: string } | undefined {
  const [, prefix = '', name = '', sent = ''] = labelled.exec(label.trim()) ?? [];
  const [field, value] = [name.toLowerCase(), sent.toLowerCase()];
  if (field === 'type' || (field === 'priority' && priorities.includes(value))) {
    return { field, prefix, value };
  }
  return undefined;
}

/** What the labels of an issue set in a task; of several of one field the first. */
export function fieldsOfLabels(labels: readonly string[]): LabelFields {
  const valueOf = (wanted: LabelField) => labels.map(parse).find((one) => one?.field === wanted)?.value;
  return compact({ type: valueOf('type'), priority: valueOf('priority') as Task['priority'] | undefined });
}

/**
 * The change of an issue's labels that states a field of its task, in the spelling that the issue has; `undefined` where none can:
 * a field that the filter selects issues by is never written.
 */
export function labelChange(
  field: LabelField,
  value: string,
  { labels, filter }: { labels: readonly string[]; filter: readonly string[] },
): Omit<LabelChange, 'fields'> | undefined {
  if (filter.some((label) => parse(label)?.field === field)) {
    return undefined;
  }
  const ofField = labels.filter((label) => parse(label)?.field === field);
  const [first] = ofField;
  const label = `${first === undefined ? `${field}: ` : (parse(first)?.prefix ?? '')}${value}`;
  return label.length > maxLabel ? undefined : { add: [label], remove: ofField.filter((one) => one !== label) };
}

/** Whether a field of a task needs a label: a default does not, unless there is one. */
export const needsLabel = (field: LabelField, task: Task, labelValue: string | undefined): boolean =>
  labelValue !== undefined || task[field] !== usual[field];

/** The labels of a new issue that say the fields of its task. */
export const labelsOfTask = (task: Task, filter: readonly string[]): string[] =>
  labelFields
    .filter((field) => needsLabel(field, task, undefined))
    .flatMap((field) => labelChange(field, task[field], { labels: [], filter })?.add ?? []);
