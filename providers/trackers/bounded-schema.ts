import {
  maxAllowedValues,
  maxSchemaText,
  schemaLimits,
  type TrackerField,
  trackerFieldId,
} from '../../contracts/integrations/trackers/tracker';
import type { TrackerProjectSchema } from './tracker';

type Lists = keyof typeof schemaLimits;

/** Whether a name can be stored and named by a profile as it is. */
const isUsable = (value: string): boolean => value !== '' && value.length <= maxSchemaText;
const areUsable = (entry: unknown): boolean =>
  Object.values(typeof entry === 'string' ? [entry] : (entry as object)).every(
    (value) => typeof value !== 'string' || isUsable(value),
  );

/** A schema within the limits of what is stored; `truncated` names what had more, a field by its id. */
export function boundedSchema(schema: Omit<TrackerProjectSchema, 'truncated'>): TrackerProjectSchema {
  const truncated: string[] = [];
  const cut = <T>(list: readonly T[], name: string, limit: number): T[] => {
    const usable = list.filter(areUsable).slice(0, limit);
    if (usable.length < list.length) {
      truncated.push(name);
    }
    return usable;
  };
  const fieldOf = (field: TrackerField): TrackerField => ({
    ...field,
    allowedValues: field.allowedValues && cut(field.allowedValues, `fields.${field.id}`, maxAllowedValues),
  });
  const fields = schema.fields.filter(({ id }) => trackerFieldId.test(id));
  if (fields.length < schema.fields.length) {
    truncated.push('fields');
  }
  const of = <K extends Lists>(name: K): TrackerProjectSchema[K] =>
    cut<unknown>(schema[name], name, schemaLimits[name]) as TrackerProjectSchema[K];
  return {
    ...schema,
    workItemTypes: of('workItemTypes'),
    fields: cut(fields, 'fields', schemaLimits.fields).map(fieldOf),
    planningPaths: of('planningPaths'),
    priorities: of('priorities'),
    states: of('states'),
    tags: of('tags'),
    assignees: of('assignees'),
    truncated: [...new Set(truncated)],
  };
}
