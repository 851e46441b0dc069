import { z } from 'zod';
import type { TrackerField, TrackerFieldKind } from '../../../contracts/integrations/trackers/tracker';
import { forgeMoment } from '../../forges/forge-fetch';
import type { TrackerComment, TrackerItem } from '../tracker';
import type { JiraEdition } from './edition';

/** The property of an issue, and of a comment, that names what it was created for; people do not see it. */
export const propertyKey = 'runboard';

export const named = z.object({ id: z.string(), name: z.string() });
/** An account, with what identifies it. */
export const accountOf = ({ accountField }: JiraEdition) =>
  z
    .looseObject({ [accountField]: z.string(), displayName: z.string().nullish() })
    .transform((sent) => ({ id: String(sent[accountField]), name: sent.displayName ?? String(sent[accountField]) }));
export const createdIssue = z.object({ id: z.string(), key: z.string() });

const allowedValue = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  value: z.string().optional(),
});

export const createField = z.looseObject({
  fieldId: z.string(),
  name: z.string(),
  required: z.boolean().default(false),
  hasDefaultValue: z.boolean().default(false),
  schema: z.looseObject({ type: z.string(), items: z.string().optional(), custom: z.string().optional() }),
  allowedValues: z.array(allowedValue).optional(),
});

const kinds: Partial<Record<string, TrackerFieldKind>> = {
  string: 'text',
  number: 'number',
  date: 'date',
  option: 'option',
  priority: 'option',
  user: 'user',
};

/** The kind of values that a field takes, by its type at Jira. */
function kindOf({ fieldId, schema: { type, items, custom = '' } }: z.output<typeof createField>): TrackerFieldKind {
  if (fieldId === 'description' || fieldId === 'environment' || custom.endsWith(':textarea')) {
    return 'long-text';
  }
  if (type === 'array') {
    return items === 'user'
      ? 'users'
      : ['string', 'option', 'component', 'version'].includes(items ?? '')
        ? 'options'
        : 'other';
  }
  return kinds[type] ?? 'other';
}

/** A field of one type of issue, as the schema has it. */
export const fieldOf = (sent: z.output<typeof createField>, workItemType: string): TrackerField => ({
  id: sent.fieldId,
  name: sent.name,
  kind: kindOf(sent),
  workItemTypes: [workItemType],
  requiredBy: sent.required && !sent.hasDefaultValue ? [workItemType] : [],
  allowedValues:
    sent.allowedValues?.flatMap(({ id, name, value }) => {
      const shown = name ?? value;
      return id === undefined || shown === undefined ? [] : [{ id, name: shown }];
    }) ?? null,
});

export const marker = z.object({ taskId: z.string(), nonce: z.string() });
const properties = z.looseObject({ [propertyKey]: marker.optional().catch(undefined) }).nullish();

/** An issue, and the marker of one that was created from here. */
export const jiraIssue = (baseUrl: string, { ofText }: JiraEdition) =>
  z
    .object({
      key: z.string(),
      properties,
      fields: z.looseObject({
        summary: z.string().nullish(),
        description: z.unknown().optional(),
        labels: z.array(z.string()).nullish(),
        priority: z.object({ name: z.string() }).nullish(),
        issuetype: z.object({ name: z.string() }).nullish(),
        status: z.object({ statusCategory: z.object({ key: z.string() }).nullish() }).nullish(),
      }),
    })
    .transform(({ key, properties: sent, fields }) => {
      const item: TrackerItem = {
        id: key,
        url: `${baseUrl.replace(/\/+$/, '')}/browse/${key}`,
        workItemType: fields.issuetype?.name ?? null,
        title: fields.summary ?? '',
        body: ofText(fields.description),
        state: fields.status?.statusCategory?.key === 'done' ? 'closed' : 'open',
        labels: fields.labels ?? [],
        priority: fields.priority?.name ?? null,
      };
      return { item, marker: sent?.[propertyKey] };
    });

const commentMarker = z.object({ key: z.string(), value: z.unknown() });

export const jiraComment = ({ ofText }: JiraEdition) =>
  z
    .object({
      id: z.string(),
      author: z.object({ displayName: z.string().nullish() }).nullish(),
      body: z.unknown().optional(),
      created: forgeMoment,
      updated: forgeMoment,
      properties: z.array(commentMarker).nullish(),
    })
    .transform((sent): TrackerComment => {
      const property = sent.properties?.find(({ key }) => key === propertyKey)?.value;
      const marked = z.object({ nonce: z.string() }).safeParse(property);
      return {
        id: sent.id,
        author: sent.author?.displayName ?? 'ghost',
        body: ofText(sent.body),
        createdAt: sent.created,
        updatedAt: sent.updated,
        nonce: marked.success ? marked.data.nonce : undefined,
      };
    });
