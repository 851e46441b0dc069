import { z } from 'zod';
import type { TrackerField } from '../../../contracts/integrations/trackers/tracker';
import { boundedSchema } from '../bounded-schema';
import type { TrackerProjectSchema } from '../tracker';
import { type JiraClient, parsedOfJira } from './client';
import type { JiraEdition } from './edition';
import { accountOf, createField, fieldOf, named } from './shapes';

const statuses = z.array(z.object({ statuses: z.array(z.object({ name: z.string() })) }));
const version = named.extend({ archived: z.boolean().nullish(), released: z.boolean().nullish() });
/** The most types whose fields are read. */
const maxTypes = 30;

/** Set from where the profile plans the work, or by the client. */
const planned = new Set(['project', 'issuetype', 'components', 'fixVersions', 'attachment', 'issuelinks', 'parent']);

/** What a project of Jira has. Its areas are components, its iterations versions that are not released. */
export async function introspectJira(
  jira: JiraClient,
  key: string,
  edition: JiraEdition,
): Promise<TrackerProjectSchema> {
  const account = accountOf(edition);
  const listOf = async <T extends z.ZodType>(shape: T, path: string, name: string) =>
    (await jira.all(path, name)).map((one) => parsedOfJira(shape, one));
  const project = `project/${encodeURIComponent(key)}`;
  const meta = `issue/createmeta/${encodeURIComponent(key)}/issuetypes`;

  const self = parsedOfJira(account, await jira.get('myself'));
  const types = (await listOf(named.extend({ subtask: z.boolean().nullish() }), meta, edition.pages.types))
    // A subtask needs a parent, which a task of the board has none of.
    .filter(({ subtask }) => subtask !== true)
    .slice(0, maxTypes);
  const fields = new Map<string, TrackerField>();
  for (const { id, name } of types) {
    for (const sent of await listOf(createField, `${meta}/${encodeURIComponent(id)}`, edition.pages.fields)) {
      if (!planned.has(sent.fieldId) || (sent.required && !sent.hasDefaultValue)) {
        fields.set(sent.fieldId, merged(fields.get(sent.fieldId), fieldOf(sent, name)));
      }
    }
  }
  for (const id of ['project', 'issuetype']) {
    fields.delete(id);
  }
  const components = parsedOfJira(z.array(named), await jira.get(`${project}/components`));
  const versions = parsedOfJira(z.array(version), await jira.get(`${project}/versions`));
  const inUse = parsedOfJira(statuses, await jira.get(`${project}/statuses`));
  const assignees = parsedOfJira(
    z.array(account),
    await jira.all('user/assignable/search', undefined, { project: key }),
  );
  // Data Center lists all its priorities at once, and no labels.
  const isCloud = edition.deployment === 'cloud';
  const priorities = isCloud
    ? await listOf(named, 'priority/search', 'values')
    : parsedOfJira(z.array(named), await jira.get('priority'));
  return boundedSchema({
    login: self.name,
    workItemTypes: types.map(({ id, name }) => ({ id, name })),
    fields: [...fields.values()].map((field) =>
      field.kind === 'user' || field.kind === 'users' ? { ...field, allowedValues: assignees } : field,
    ),
    planningPaths: [
      { kind: 'project', path: key, id: key },
      ...components.map(({ id, name }) => ({ kind: 'area' as const, path: name, id })),
      ...versions
        .filter(({ archived, released }) => archived !== true && released !== true)
        .map(({ id, name }) => ({ kind: 'iteration' as const, path: name, id })),
    ],
    priorities: priorities.map(({ name }) => name),
    states: [...new Set(inUse.flatMap((type) => type.statuses.map(({ name }) => name)))],
    tags: isCloud ? await listOf(z.string(), 'label', 'values') : [],
    assignees,
    capabilities: { create: types.length > 0, import: true, comments: true, areas: true, iterations: true },
  });
}

/** One field of several types. */
function merged(before: TrackerField | undefined, field: TrackerField): TrackerField {
  if (!before) {
    return field;
  }
  const values = [...(before.allowedValues ?? []), ...(field.allowedValues ?? [])];
  return {
    ...before,
    kind: before.kind === field.kind ? field.kind : 'other',
    workItemTypes: [...before.workItemTypes, ...field.workItemTypes],
    requiredBy: [...before.requiredBy, ...field.requiredBy],
    allowedValues:
      before.allowedValues === null || field.allowedValues === null
        ? null
        : [...new Map(values.map((value) => [value.id, value])).values()],
  };
}
