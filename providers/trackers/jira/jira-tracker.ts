import type { TrackerField } from '../../../contracts/integrations/trackers/tracker';
import { ForgeError } from '../../forges/forge-error';
import { textOf, valuesOf } from '../forge-items';
import type { NewTrackerItem, Tracker, TrackerSettings } from '../tracker';
import { createJiraClient, parsedOfJira } from './client';
import { commentProperties } from './comment-properties';
import { editionOf, type JiraEdition } from './edition';
import { findInCloud, findInDataCenter, issueFields as fields } from './find-created';
import { introspectJira } from './introspect';
import { createdIssue, jiraComment, jiraIssue, propertyKey } from './shapes';

/** The issues of a project of Jira Cloud, or of Jira Data Center. */
export function createJiraTracker(settings: TrackerSettings): Tracker {
  const { project, baseUrl } = settings;
  const edition = editionOf(settings);
  const jira = createJiraClient(settings, edition);
  const issue = jiraIssue(baseUrl, edition);
  const comment = jiraComment(edition);
  const find = edition.deployment === 'cloud' ? findInCloud : findInDataCenter;

  /** @throws ForgeError for the id of another tracker, or of another project */
  const pathOf = (id: string): string => {
    if (!id.startsWith(`${project}-`) || !/^[A-Z][A-Z0-9_]*-[1-9][0-9]*$/.test(id)) {
      throw new ForgeError('not-found', `There is no issue ${id} in ${project}.`);
    }
    return `issue/${encodeURIComponent(id)}`;
  };

  return {
    provider: 'jira',
    // The index of Jira follows a creation after a moment: in Data Center that of its other nodes.
    searchDelayMs: 5_000,
    introspect: () => introspectJira(jira, project, edition),

    async createItem(created) {
      const { key } = parsedOfJira(
        createdIssue,
        await jira.post('issue', {
          fields: fieldsOf(created, project, edition),
          properties: [{ key: propertyKey, value: created.marker }],
        }),
      );
      const { summary } = created.payload.fields;
      return {
        id: key,
        url: `${baseUrl.replace(/\/+$/, '')}/browse/${key}`,
        workItemType: created.payload.workItemType,
        title: textOf(summary),
        body: '',
        state: 'open',
        labels: [],
        priority: null,
      };
    },

    findCreated: (marker, since) => find({ jira, issue, project }, marker, since),

    getItem: async (id) => parsedOfJira(issue, await jira.get(pathOf(id), { fields })).item,

    async commentsOf(id) {
      const comments = await jira.all(`${pathOf(id)}/comment`, 'comments', {
        orderBy: 'created',
        expand: 'properties',
      });
      const withProperties = await commentProperties(jira, edition, comments);
      return withProperties.map((one) => parsedOfJira(comment, one));
    },

    async addComment(id, { author, text, nonce }) {
      const made = await jira.post(`${pathOf(id)}/comment`, {
        body: edition.toText(`${author.replace(/[\r\n]/g, ' ')} wrote:\n\n${text}`),
        properties: [{ key: propertyKey, value: { nonce } }],
      });
      return { ...parsedOfJira(comment, made), nonce };
    },
  };
}

/** What Jira takes for a payload. */
function fieldsOf({ payload, schema }: NewTrackerItem, project: string, edition: JiraEdition): Record<string, unknown> {
  const typeId = schema.workItemTypes.find(({ name }) => name === payload.workItemType)?.id;
  const planned = (kind: 'area' | 'iteration', path: string | null): { id: string }[] =>
    schema.planningPaths.filter((one) => one.kind === kind && one.path === path).map(({ id }) => ({ id }));
  const [components, fixVersions] = [planned('area', payload.areaPath), planned('iteration', payload.iterationPath)];
  const kinds = new Map(schema.fields.map((field) => [field.id, field]));
  return {
    project: { key: project },
    issuetype: { id: typeId },
    ...(components.length > 0 ? { components } : {}),
    ...(fixVersions.length > 0 ? { fixVersions } : {}),
    ...Object.fromEntries(
      Object.entries(payload.fields).map(([id, value]) => [id, encoded(kinds.get(id), value, edition)]),
    ),
  };
}

/** A value as a field of this kind takes it. An option is named by its id where those are listed. */
function encoded(
  field: TrackerField | undefined,
  value: string | number | string[],
  { accountField, toText }: JiraEdition,
): unknown {
  const optionOf = (name: string): object => {
    const option = field?.allowedValues?.find((one) => one.name === name);
    return option ? { id: option.id } : { name };
  };
  switch (field?.kind) {
    case 'long-text':
      return toText(textOf(value));
    case 'number':
      return Number(value);
    case 'option':
      return optionOf(textOf(value));
    case 'options':
      // Labels and the like are texts; they have no list.
      return field.allowedValues === null ? valuesOf(value) : valuesOf(value).map(optionOf);
    case 'user':
      return { [accountField]: textOf(value) };
    case 'users':
      return valuesOf(value).map((id) => ({ [accountField]: id }));
    default:
      return textOf(value);
  }
}
