import { z } from 'zod';
import type { TrackerField } from '../../../contracts/integrations/trackers/tracker';
import { ForgeError } from '../../forges/forge-error';
import { textOf, valuesOf } from '../forge-items';
import type { NewTrackerItem, Tracker, TrackerSettings } from '../tracker';
import { createJiraClient, parsedOfJira } from './client';
import { documentOf } from './document';
import { introspectJira } from './introspect';
import { createdIssue, jiraComment, jiraIssue, propertyKey } from './shapes';

const fields = 'summary,description,labels,priority,issuetype,status';
const found = z.object({ issues: z.array(z.unknown()), nextPageToken: z.string().nullish() });
const dayMs = 86_400_000;
const pageSize = 100;
/** Pages of a search that are read; an issue that was created after so many others is not found. */
const maxPages = 20;

/** The issues of a project of Jira Cloud. */
export function createJiraTracker(settings: TrackerSettings): Tracker {
  const { project, baseUrl } = settings;
  const jira = createJiraClient(settings);
  const issue = jiraIssue(baseUrl);

  /** @throws ForgeError for the id of another tracker, or of another project */
  const pathOf = (id: string): string => {
    if (!id.startsWith(`${project}-`) || !/^[A-Z][A-Z0-9_]*-[1-9][0-9]*$/.test(id)) {
      throw new ForgeError('not-found', `There is no issue ${id} in ${project}.`);
    }
    return `issue/${encodeURIComponent(id)}`;
  };

  return {
    provider: 'jira',
    // The index of Jira Cloud follows a creation after a moment.
    searchDelayMs: 5_000,
    introspect: () => introspectJira(jira, project),

    async createItem(created) {
      const { key } = parsedOfJira(
        createdIssue,
        await jira.post('issue', {
          fields: fieldsOf(created, project),
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

    async findCreated({ taskId, nonce }, since) {
      const days = Math.ceil((Date.now() - Date.parse(since)) / dayMs) + 1;
      let token: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const { issues, nextPageToken } = parsedOfJira(
          found,
          await jira.post('search/jql', {
            // The project is a key, checked where it was configured.
            jql: `project = "${project}" AND created >= "-${days}d" ORDER BY created DESC`,
            fields: fields.split(','),
            properties: [propertyKey],
            maxResults: pageSize,
            ...(token === undefined ? {} : { nextPageToken: token }),
          }),
        );
        const read = issues.map((one) => parsedOfJira(issue, one));
        const created = read.find(({ marker }) => marker?.taskId === taskId && marker.nonce === nonce);
        if (created) {
          return created.item;
        }
        if (typeof nextPageToken !== 'string') {
          return undefined;
        }
        token = nextPageToken;
      }
      return undefined;
    },

    getItem: async (id) => parsedOfJira(issue, await jira.get(pathOf(id), { fields })).item,

    async commentsOf(id) {
      const comments = await jira.all(`${pathOf(id)}/comment`, 'comments', {
        orderBy: 'created',
        expand: 'properties',
      });
      return comments.map((one) => parsedOfJira(jiraComment, one));
    },

    async addComment(id, { author, text, nonce }) {
      const made = await jira.post(`${pathOf(id)}/comment`, {
        body: documentOf(`${author.replace(/[\r\n]/g, ' ')} wrote:\n\n${text}`),
        properties: [{ key: propertyKey, value: { nonce } }],
      });
      return { ...parsedOfJira(jiraComment, made), nonce };
    },
  };
}

/** What Jira takes for a payload. */
function fieldsOf({ payload, schema }: NewTrackerItem, project: string): Record<string, unknown> {
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
    ...Object.fromEntries(Object.entries(payload.fields).map(([id, value]) => [id, encoded(kinds.get(id), value)])),
  };
}

/** A value as a field of this kind takes it. An option is named by its id where those are listed. */
function encoded(field: TrackerField | undefined, value: string | number | string[]): unknown {
  const optionOf = (name: string): object => {
    const option = field?.allowedValues?.find((one) => one.name === name);
    return option ? { id: option.id } : { name };
  };
  switch (field?.kind) {
    case 'long-text':
      return documentOf(textOf(value));
    case 'number':
      return Number(value);
    case 'option':
      return optionOf(textOf(value));
    case 'options':
      // Labels and the like are texts; they have no list.
      return field.allowedValues === null ? valuesOf(value) : valuesOf(value).map(optionOf);
    case 'user':
      return { accountId: textOf(value) };
    case 'users':
      return valuesOf(value).map((accountId) => ({ accountId }));
    default:
      return textOf(value);
  }
}
