import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ForgeRequest, type ForgeResponse, type ForgeServer, startForgeServer } from './forge-server';

export const jiraAccount = 'bot@acme.example';
export const jiraToken = 'ATATT3xFfGF0-0123456789abcdef';

/** A body as it is on the wire. */
type Wire = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- as it is on the wire

interface JiraIssue {
  id: string;
  key: string;
  fields: Wire;
  properties: Record<string, unknown>;
}

interface JiraComment {
  id: string;
  author: { displayName: string };
  body: unknown;
  created: string;
  updated: string;
  properties: { key: string; value: unknown }[];
}

export interface JiraState {
  issues: JiraIssue[];
  comments: Map<string, JiraComment[]>;
  labels: string[];
  people: { accountId: string; displayName: string }[];
  /** How many of the newest issues a search does not find yet. */
  unindexed: number;
}

export interface JiraServer extends ForgeServer {
  state: JiraState;
  baseUrl: string;
  /** Opens an issue as a person does, and returns its key. */
  openIssue(fields?: Record<string, unknown>): string;
  comment(key: string, text: string, displayName?: string): void;
}

const at = '2026-01-01T00:00:00.000+0000';
const notFound: ForgeResponse = {
  status: 404,
  body: { errorMessages: ['Issue does not exist or you do not have permission to see it.'], errors: {} },
};
const types = [
  { id: '10001', name: 'Bug', subtask: false },
  { id: '10002', name: 'Task', subtask: false },
  { id: '10003', name: 'Sub-task', subtask: true },
];
const priorities = ['Highest', 'High', 'Medium', 'Low'].map((name, index) => ({ id: String(index + 1), name }));
const text = (fieldId: string, name: string, required: boolean) => ({
  ...{ fieldId, key: fieldId, name, required, hasDefaultValue: false, operations: ['set'] },
  schema: { type: 'string', system: fieldId },
});

/** The fields of a type; a bug needs to state where it was found. */
const fieldsOf = (typeId: string) => [
  text('summary', 'Summary', true),
  text('description', 'Description', false),
  {
    ...text('priority', 'Priority', false),
    schema: { type: 'priority', system: 'priority' },
    allowedValues: priorities,
  },
  { ...text('labels', 'Labels', false), schema: { type: 'array', items: 'string', system: 'labels' } },
  { ...text('assignee', 'Assignee', false), schema: { type: 'user', system: 'assignee' } },
  { ...text('components', 'Components', false), schema: { type: 'array', items: 'component', system: 'components' } },
  { ...text('project', 'Project', true), schema: { type: 'project', system: 'project' } },
  { ...text('issuetype', 'Issue Type', true), schema: { type: 'issuetype', system: 'issuetype' } },
  ...(typeId === '10001'
    ? [
        {
          ...text('customfield_10010', 'Found in', true),
          schema: {
            type: 'option',
            custom: 'com.atlassian.jira.plugin.system.customfieldtypes:select',
            customId: 10010,
          },
          allowedValues: [
            { id: '1', value: 'Till' },
            { id: '2', value: 'Back office' },
          ],
        },
      ]
    : []),
];

/** The project `SHOP` of a site of Jira Cloud, with version 3 of its REST API. */
export async function startJiraServer(
  raw?: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<JiraServer> {
  const state: JiraState = { issues: [], comments: new Map(), labels: [], people: [], unindexed: 0 };
  let ids = 10_000;
  const proof = `Basic ${Buffer.from(`${jiraAccount}:${jiraToken}`).toString('base64')}`;

  function add(fields: Record<string, unknown>, properties: { key: string; value: unknown }[]): JiraIssue {
    const made = {
      id: String((ids += 1)),
      key: `SHOP-${state.issues.length + 1}`,
      fields: { labels: [], status: { name: 'To Do', statusCategory: { key: 'new' } }, ...fields },
      properties: Object.fromEntries(properties.map(({ key, value }) => [key, value])),
    };
    state.issues.push(made);
    return made;
  }
  const openIssue: JiraServer['openIssue'] = (fields = {}) =>
    add({ summary: 'Broken', issuetype: { id: '10002', name: 'Task' }, ...fields }, []).key;
  function addComment(
    key: string,
    body: unknown,
    { displayName = 'Mona', properties = [] as JiraComment['properties'] } = {},
  ) {
    const made = { id: String((ids += 1)), author: { displayName }, body, created: at, updated: at, properties };
    state.comments.set(key, [...(state.comments.get(key) ?? []), made]);
    return made;
  }

  /** A page of a list that is counted from `startAt`, under the name of its items. */
  const paged = (items: readonly unknown[], name: string | undefined, { query }: ForgeRequest): ForgeResponse => {
    const startAt = Number(query.get('startAt') ?? 0);
    const maxResults = Math.min(Number(query.get('maxResults') ?? 50), 100);
    const page = items.slice(startAt, startAt + maxResults);
    const isLast = startAt + page.length >= items.length;
    const counts = { startAt, maxResults, total: items.length, ...(name === 'values' ? { isLast } : {}) };
    return { status: 200, body: name === undefined ? page : { ...counts, [name]: page } };
  };

  function create({ fields, properties = [] }: Wire): ForgeResponse {
    const type = types.find(({ id }) => id === fields.issuetype?.id);
    const errors: Record<string, string> = {};
    if (fields.project?.key !== 'SHOP') {
      errors.project = 'valid project is required';
    }
    if (!type) {
      errors.issuetype = 'The issue type selected is invalid.';
    }
    for (const { fieldId, name, required } of type ? fieldsOf(type.id) : []) {
      if (required && fields[fieldId] === undefined) {
        errors[fieldId] = `${name} is required.`;
      }
    }
    if (fields.description !== undefined && fields.description.type !== 'doc') {
      errors.description = 'Operation value must be an Atlassian Document (see the Atlassian Document Format)';
    }
    if (Object.keys(errors).length > 0) {
      return { status: 400, body: { errorMessages: [], errors } };
    }
    const priority = fields.priority && priorities.find((one) => one.id === fields.priority.id);
    const { id, key } = add({ ...fields, issuetype: type, priority }, properties);
    return { status: 201, body: { id, key, self: `https://acme.example/rest/api/3/issue/${id}` } };
  }

  function search({ jql, properties = [], maxResults = 50, nextPageToken }: Wire): ForgeResponse {
    if (!/^project = "SHOP" AND created >= "-\d+d" ORDER BY created DESC$/.test(jql)) {
      return { status: 400, body: { errorMessages: [`Error in the JQL Query: ${jql}`], errors: {} } };
    }
    const indexed = state.issues.slice(0, state.issues.length - state.unindexed).reverse();
    const start = Number(nextPageToken ?? 0);
    const issues = indexed.slice(start, start + maxResults).map(({ properties: all, ...issue }) => ({
      ...issue,
      properties: Object.fromEntries(Object.entries(all).filter(([key]) => (properties as string[]).includes(key))),
    }));
    const isLast = start + issues.length >= indexed.length;
    return { status: 200, body: { issues, isLast, ...(isLast ? {} : { nextPageToken: String(start + maxResults) }) } };
  }

  const handle = (request: ForgeRequest): ForgeResponse => {
    const { method, path, query, body } = request;
    if (request.headers.authorization !== proof) {
      return { status: 401, body: { errorMessages: ['Client must be authenticated to access this resource.'] } };
    }
    const [, issueKey = '', part] = /^\/rest\/api\/3\/issue\/(SHOP-\d+)(?:\/(\w+))?$/.exec(path) ?? [];
    const issue = state.issues.find(({ key }) => key === issueKey);
    const action = `${method} ${path.replace('/rest/api/3/', '')}`;
    const [, typeId] = /^GET issue\/createmeta\/SHOP\/issuetypes\/(\d+)$/.exec(action) ?? [];
    if (issueKey !== '') {
      if (!issue) {
        return notFound;
      }
      if (part === undefined) {
        return { status: 200, body: { id: issue.id, key: issue.key, fields: issue.fields } };
      }
      if (method === 'GET') {
        const shown = (state.comments.get(issueKey) ?? []).map(({ properties, ...one }) =>
          query.get('expand') === 'properties' ? { ...one, properties } : one,
        );
        return paged(shown, 'comments', request);
      }
      const properties = (body.properties ?? []) as JiraComment['properties'];
      return { status: 201, body: addComment(issueKey, body.body, { displayName: 'Runboard', properties }) };
    }
    if (typeId !== undefined) {
      return paged(fieldsOf(typeId), 'fields', request);
    }
    switch (action) {
      case 'GET myself':
        return { status: 200, body: { accountId: 'bot', displayName: 'Runboard', emailAddress: jiraAccount } };
      case 'GET issue/createmeta/SHOP/issuetypes':
        return paged(types, 'issueTypes', request);
      case 'GET project/SHOP/components':
        return { status: 200, body: [{ id: '20001', name: 'Till' }] };
      case 'GET project/SHOP/versions':
        return {
          status: 200,
          body: [
            { id: '30001', name: '1.0', archived: false, released: true },
            { id: '30002', name: '2.0', archived: false, released: false },
          ],
        };
      case 'GET project/SHOP/statuses':
        return { status: 200, body: [{ id: '10002', name: 'Task', statuses: [{ name: 'To Do' }, { name: 'Done' }] }] };
      case 'GET priority/search':
        return paged(priorities, 'values', request);
      case 'GET label':
        return paged(state.labels, 'values', request);
      case 'GET user/assignable/search':
        return paged(state.people, undefined, request);
      case 'POST search/jql':
        return search(body);
      case 'POST issue':
        return create(body);
      default:
        return notFound;
    }
  };

  const server = await startForgeServer(handle, raw);
  const comment: JiraServer['comment'] = (key, spoken, displayName = 'Mona') => {
    const paragraph = { type: 'paragraph', content: [{ type: 'text', text: spoken }] };
    addComment(key, { type: 'doc', version: 1, content: [paragraph] }, { displayName });
  };
  return Object.assign(server, { state, baseUrl: server.url, openIssue, comment });
}
