import type {
  FieldMapping,
  TrackerIssue,
  TrackerPayload,
  TrackerProfileFields,
} from '../../contracts/integrations/trackers/profile';
import type { TrackerField, TrackerSchema } from '../../contracts/integrations/trackers/tracker';
import type { Task } from '../../contracts/tasks/task';
import { type Issues, optionFor, splitLiteral, validateProfile } from './validate-profile';

type MappedTask = Pick<Task, 'id' | 'title' | 'description' | 'priority' | 'status'>;
type Value = string | number | string[];

/** What trackers call the priorities of tasks, beside their own names. */
const priorityNames: Record<Task['priority'], readonly string[]> = {
  low: ['low', 'minor'],
  medium: ['medium', 'normal', 'major'],
  high: ['high'],
  critical: ['critical', 'highest', 'blocker', 'urgent'],
};

/** What names the task in the work item. */
const backlinkOf = ({ id }: MappedTask): string => `Runboard task ${id}`;

/** What a profile makes of a task, and what of it the tracker does not allow. */
export function mapTask(
  profile: TrackerProfileFields,
  task: MappedTask,
  schema: TrackerSchema,
): Issues & { payload: TrackerPayload } {
  const { errors, warnings } = validateProfile(profile, schema);
  const byId = new Map(schema.fields.map((field) => [field.id, field]));
  const values = new Map<string, Value>();
  profile.fieldMappings.forEach((mapping, index) => {
    const field = byId.get(mapping.trackerFieldId);
    if (!field) {
      return;
    }
    const value = valueOf(mapping, task, field);
    if (value !== undefined) {
      const before = values.get(field.id);
      values.set(field.id, Array.isArray(before) && Array.isArray(value) ? [...new Set([...before, ...value])] : value);
    } else {
      const issue = emptyIssue(mapping, { index, field, task });
      const isRequired = mapping.required || field.requiredBy.includes(profile.defaultWorkItemType);
      (isRequired ? errors : warnings).push(issue);
    }
  });
  const { backlinkFieldId: backlink } = profile;
  if (backlink !== undefined && byId.has(backlink)) {
    const text = values.get(backlink);
    values.set(backlink, typeof text === 'string' ? `${text}\n\n${backlinkOf(task)}` : backlinkOf(task));
  }
  return {
    payload: {
      workItemType: profile.defaultWorkItemType,
      projectPath: profile.defaultProjectPath,
      areaPath: profile.defaultAreaPath ?? null,
      iterationPath: profile.defaultIterationPath ?? null,
      fields: Object.fromEntries(values),
    },
    errors,
    warnings,
  };
}

const emptyIssue = (
  { source, trackerFieldId }: FieldMapping,
  { index, field, task }: { index: number; field: TrackerField; task: MappedTask },
): TrackerIssue => ({
  path: `fieldMappings.${index}`,
  message:
    source === 'priority' || source === 'status'
      ? `leaves ${trackerFieldId} (${field.name}) empty: it has no value for the ${source} ${task[source]}`
      : `leaves ${trackerFieldId} (${field.name}) empty: the task has no ${source}`,
});

/** The value of a field; `undefined` where the source has none that it takes. */
function valueOf(
  { source, literalValue = '' }: FieldMapping,
  task: MappedTask,
  field: TrackerField,
): Value | undefined {
  if (source === 'literal') {
    return literal(field, literalValue);
  }
  const text = task[source].trim();
  if (field.kind === 'text' || field.kind === 'long-text') {
    // A field of one line has no line ends.
    return (field.kind === 'text' ? text.replace(/\s+/g, ' ') : text) || undefined;
  }
  if (field.allowedValues === null) {
    return field.kind === 'options' ? [`${source}: ${text}`] : text;
  }
  const names = source === 'priority' ? [text, ...priorityNames[task.priority]] : [text];
  const option = names.map((name) => optionFor(field, name)).find((one) => one !== undefined);
  return option !== undefined && field.kind === 'options' ? [option] : option;
}

function literal(field: TrackerField, value: string): Value | undefined {
  if (field.kind === 'number') {
    const number = Number(value);
    return Number.isFinite(number) ? number : undefined;
  }
  const one = (name: string): string => optionFor(field, name) ?? name;
  return field.kind === 'options' || field.kind === 'users' ? splitLiteral(value).map(one) : one(value);
}
