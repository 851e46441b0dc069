import type { FieldMapping, TrackerIssue, TrackerProfileFields } from '../../contracts/integrations/trackers/profile';
import type { TrackerField, TrackerSchema } from '../../contracts/integrations/trackers/tracker';

export interface Issues {
  errors: TrackerIssue[];
  warnings: TrackerIssue[];
}

/** The field of each provider that is the title of a work item. */
export const titleFields = { github: 'title', gitlab: 'title', jira: 'summary' } as const;

/** Fields that where the work is planned fills. */
const planned: Partial<Record<string, 'defaultAreaPath' | 'defaultIterationPath'>> = {
  components: 'defaultAreaPath',
  fixVersions: 'defaultIterationPath',
};

/** What of a profile the schema of its tracker does not allow: nothing can be created with it. */
export function validateProfile(profile: TrackerProfileFields, schema: TrackerSchema): Issues {
  const errors: TrackerIssue[] = [];
  const warnings: TrackerIssue[] = [];
  const refuse = (path: string, message: string): void => {
    errors.push({ path, message });
  };
  /** A list that was cut may have what it does not show. */
  const missing = (list: string, issue: TrackerIssue): void => {
    (schema.truncated.includes(list) ? warnings : errors).push(issue);
  };
  const { defaultWorkItemType: type, fieldMappings } = profile;

  if (!schema.capabilities.create) {
    refuse('defaultProjectPath', 'is a project without work items, or one that the credential may not create any in');
  }
  if (schema.workItemTypes.every(({ name }) => name !== type)) {
    missing('workItemTypes', {
      path: 'defaultWorkItemType',
      message: `is no type of ${schema.project}: one of ${listed(schema.workItemTypes.map(({ name }) => name))}`,
    });
  }
  for (const [kind, path] of planningOf(profile)) {
    const paths = schema.planningPaths.filter((one) => one.kind === kind).map((one) => one.path);
    if (profile[path] !== undefined && !paths.includes(profile[path])) {
      missing('planningPaths', { path, message: `is no ${kind} of ${schema.project}: one of ${listed(paths)}` });
    }
  }
  const byId = new Map(schema.fields.map((field) => [field.id, field]));
  fieldMappings.forEach((mapping, index) => {
    const path = `fieldMappings.${index}`;
    const field = byId.get(mapping.trackerFieldId);
    if (!field?.workItemTypes.includes(type)) {
      missing('fields', { path: `${path}.trackerFieldId`, message: `is no field of ${type}` });
      return;
    }
    const problem = mappingProblem(mapping, field);
    if (problem !== undefined) {
      refuse(`${path}.${mapping.source === 'literal' ? 'literalValue' : 'trackerFieldId'}`, problem);
    }
    if (field.kind !== 'options' && fieldMappings.findIndex((one) => one.trackerFieldId === field.id) < index) {
      refuse(`${path}.trackerFieldId`, 'is filled by an earlier mapping');
    }
  });
  for (const { id, name, requiredBy } of schema.fields) {
    const plan = planned[id];
    const isFilled = fieldMappings.some(({ trackerFieldId }) => trackerFieldId === id);
    const isPlanned = plan !== undefined && profile[plan] !== undefined;
    if (requiredBy.includes(type) && !isFilled && !isPlanned) {
      refuse('fieldMappings', `need a mapping for ${id} (${name}), which ${type} requires`);
    }
  }
  validateBacklink(profile, byId, refuse);
  return { errors, warnings };
}

const planningOf = ({ defaultProjectPath: _project }: TrackerProfileFields) =>
  [
    ['project', 'defaultProjectPath'],
    ['area', 'defaultAreaPath'],
    ['iteration', 'defaultIterationPath'],
  ] as const;

/** Why a mapping cannot fill its field, whatever the task has. */
function mappingProblem({ source, literalValue = '' }: FieldMapping, field: TrackerField): string | undefined {
  if (field.kind === 'other') {
    return 'is of a kind that no mapping can fill';
  }
  if (source !== 'literal') {
    const takes = source === 'title' || source === 'description' ? ['text', 'long-text'] : textsAndOptions;
    return takes.includes(field.kind) ? undefined : `takes a ${field.kind}, and no ${source}`;
  }
  const values = field.kind === 'options' || field.kind === 'users' ? splitLiteral(literalValue) : [literalValue];
  if (field.kind === 'number' && !/^-?\d{1,15}(?:\.\d{1,10})?$/.test(literalValue)) {
    return 'must be a number';
  }
  if (field.kind === 'date' && !(/^\d{4}-\d{2}-\d{2}$/.test(literalValue) && !Number.isNaN(Date.parse(literalValue)))) {
    return 'must be a date such as 2026-01-31';
  }
  const unknown = values.filter((value) => field.allowedValues !== null && optionFor(field, value) === undefined);
  const allowed = field.allowedValues?.map(({ id, name }) => (isUser(field) ? id : name)) ?? [];
  return unknown.length > 0 ? `has ${listed(unknown)}, which is none of ${listed(allowed)}` : undefined;
}

const textsAndOptions: readonly string[] = ['text', 'long-text', 'option', 'options'] satisfies TrackerField['kind'][];
const isUser = ({ kind }: TrackerField): boolean => kind === 'user' || kind === 'users';

export const splitLiteral = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** The value of a field that allows some only, as it is sent: a user is its id, anything else its name. */
export function optionFor(field: TrackerField, value: string): string | undefined {
  const option = field.allowedValues?.find(
    ({ id, name }) => (isUser(field) && id === value) || name.toLowerCase() === value.toLowerCase(),
  );
  return option && (isUser(field) ? option.id : option.name);
}

function validateBacklink(
  { provider, backlinkFieldId, defaultWorkItemType }: TrackerProfileFields,
  byId: ReadonlyMap<string, TrackerField>,
  refuse: (path: string, message: string) => void,
): void {
  if (backlinkFieldId === undefined) {
    return;
  }
  const field = byId.get(backlinkFieldId);
  if (!field?.workItemTypes.includes(defaultWorkItemType)) {
    refuse('backlinkFieldId', `is no field of ${defaultWorkItemType}`);
  } else if (!['text', 'long-text'].includes(field.kind) || field.id === titleFields[provider]) {
    refuse('backlinkFieldId', 'must be a field of text, and not the title');
  }
}

/** The most names that a message lists. */
const maxListed = 20;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map((name) => JSON.stringify(name));
  const rest = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  return shown.length === 0 ? 'none' : shown.join(', ') + rest;
}
