import { type ForgeRequest, type ForgeResponse, type ForgeServer, startForgeServer } from './forge-server';

export const personalToken = 'NjQ2NTE0Nzg5NDAxOsCx-personal';
/** Below which path the site is, as behind a proxy of a company. */
export const contextPath = '/jira';

/** A body as it is on the wire. */
type Wire = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- as it is on the wire

interface Property {
  key: string;
  value: unknown;
}

interface Comment {
  id: string;
  author: { name: string; key: string; displayName: string };
  body: string;
  created: string;
  updated: string;
}

export interface JiraDataCenterState {
  issues: { id: string; key: string; fields: Wire; creator: string }[];
  comments: Map<string, Comment[]>;
  people: { name: string; key: string; displayName: string }[];
  /** Properties by `issue/<key>` and `comment/<id>`. */
  properties: Map<string, Property[]>;
  /** Whether comments are listed with their properties, as releases differ in. */
  listsProperties: boolean;
}

export interface JiraDataCenterServer extends ForgeServer {
  state: JiraDataCenterState;
  baseUrl: string;
  /** Opens an issue as a person does, and returns its key. */
  openIssue(fields?: Record<string, unknown>): string;
  comment(key: string, text: string): void;
}

const at = '2026-01-01T00:00:00.000+0000';
const bot = { name: 'runboard', key: 'JIRAUSER10100', displayName: 'Runboard' };
const mona = { name: 'mona', key: 'JIRAUSER10101', displayName: 'Mona' };
const missing = (message: string): ForgeResponse => ({ status: 404, body: { errorMessages: [message], errors: {} } });
const priorities = ['Highest', 'High', 'Low'].map((name, index) => ({ id: String(index + 1), name }));
const types = [
  { id: '10001', name: 'Bug', subtask: false },
  { id: '10002', name: 'Task', subtask: false },
];
const field = (fieldId: string, schema: object, more: object = {}) => ({
  ...{ fieldId, name: fieldId, required: false, hasDefaultValue: false, operations: ['set'], schema },
  ...more,
});
const fields = [
  field('summary', { type: 'string', system: 'summary' }, { required: true }),
  field('description', { type: 'string', system: 'description' }),
  field('priority', { type: 'priority', system: 'priority' }, { allowedValues: priorities }),
  field('labels', { type: 'array', items: 'string', system: 'labels' }),
  field('assignee', { type: 'user', system: 'assignee' }),
  field('components', { type: 'array', items: 'component', system: 'components' }),
];

/** The project `SHOP` of a Jira Data Center, with version 2 of its REST API below {@link contextPath}. */
export async function startJiraDataCenterServer(
  raw?: Parameters<typeof startForgeServer>[1],
): Promise<JiraDataCenterServer> {
  const state: JiraDataCenterState = {
    ...{ issues: [], comments: new Map(), people: [bot, mona], properties: new Map(), listsProperties: false },
  };
  let ids = 10_000;

  function add(sent: Wire, creator: string, properties: Property[] = []): { id: string; key: string } {
    const key = `SHOP-${state.issues.length + 1}`;
    const made = { status: { name: 'To Do', statusCategory: { key: 'new' } }, labels: [], ...sent };
    state.issues.push({ id: String((ids += 1)), key, fields: made, creator });
    state.properties.set(`issue/${key}`, properties);
    return { id: String(ids), key };
  }

  function addComment(key: string, body: string, author: Comment['author'], properties: Property[] = []): Comment {
    const made = { id: String((ids += 1)), author, body, created: at, updated: at };
    state.comments.set(key, [...(state.comments.get(key) ?? []), made]);
    state.properties.set(`comment/${made.id}`, properties);
    return made;
  }

  const paged = (items: readonly unknown[], name: string | undefined, { query, body }: ForgeRequest): ForgeResponse => {
    const startAt = Number(query.get('startAt') ?? body.startAt ?? 0);
    const maxResults = Math.min(Number(query.get('maxResults') ?? body.maxResults ?? 50), 100);
    const page = items.slice(startAt, startAt + maxResults);
    const isLast = startAt + page.length >= items.length;
    const counts = { startAt, maxResults, total: items.length, ...(name === 'values' ? { isLast } : {}) };
    return { status: 200, body: name === undefined ? page : { ...counts, [name]: page } };
  };

  function create({ fields: sent, properties }: Wire): ForgeResponse {
    const type = types.find(({ id }) => id === sent.issuetype?.id);
    const errors: Record<string, string> = {
      ...(sent.summary ? {} : { summary: 'You must specify a summary of the issue.' }),
      ...(type ? {} : { issuetype: 'issue type is required' }),
      // Version 2 has texts, and no documents.
      ...(typeof (sent.description ?? '') === 'string' ? {} : { description: 'Operation value must be a string' }),
      ...(sent.assignee && !sent.assignee.name ? { assignee: 'data was not an object with a name' } : {}),
    };
    if (Object.keys(errors).length > 0) {
      return { status: 400, body: { errorMessages: [], errors } };
    }
    const priority = priorities.find(({ id }) => id === sent.priority?.id);
    return { status: 201, body: add({ ...sent, issuetype: type, priority }, bot.name, properties) };
  }

  function search(request: ForgeRequest): ForgeResponse {
    const jql = /^project = "SHOP" AND creator = currentUser\(\) AND created >= "-\d+d" ORDER BY created DESC$/;
    if (!jql.test(String(request.body.jql)) || request.body.properties !== undefined) {
      return { status: 400, body: { errorMessages: [`Error in the JQL Query: ${String(request.body.jql)}`] } };
    }
    const own = state.issues.filter(({ creator }) => creator === bot.name).reverse();
    return paged(
      own.map(({ creator: _creator, ...issue }) => issue),
      'issues',
      request,
    );
  }

  /** Of an issue: itself, its comments, and a property. */
  function ofIssue(request: ForgeRequest, key: string, part: string | undefined): ForgeResponse {
    const issue = state.issues.find((one) => one.key === key);
    if (!issue) {
      return missing('Issue Does Not Exist');
    }
    if (part === undefined) {
      return { status: 200, body: { id: issue.id, key, fields: issue.fields } };
    }
    if (request.method === 'POST') {
      const { body, properties } = request.body as Wire;
      return typeof body === 'string'
        ? { status: 201, body: addComment(key, body, bot, properties) }
        : { status: 400, body: { errorMessages: ['Can not deserialize instance of java.lang.String'] } };
    }
    const shown = (state.comments.get(key) ?? []).map((one) =>
      state.listsProperties ? { ...one, properties: state.properties.get(`comment/${one.id}`) } : one,
    );
    return paged(shown, 'comments', request);
  }

  const handle = (request: ForgeRequest): ForgeResponse => {
    const { method, path, headers } = request;
    const root = `${contextPath}/rest/api/2/`;
    if (headers.authorization !== `Bearer ${personalToken}`) {
      return { status: 401, body: { message: 'Client must be authenticated to access this resource.' } };
    }
    if (!path.startsWith(root)) {
      return { status: 404, body: '<html>Page not found</html>' };
    }
    const action = `${method} ${path.slice(root.length)}`;
    const [, owner = '', property = ''] = /^GET ((?:issue|comment)\/[\w-]+)\/properties\/(\w+)$/.exec(action) ?? [];
    if (property !== '') {
      const found = state.properties.get(owner)?.find(({ key }) => key === property);
      return found ? { status: 200, body: found } : missing(`The property ${property} does not exist.`);
    }
    const [, key, part] = /^(?:GET|POST) issue\/(SHOP-\d+)(?:\/(comment))?$/.exec(action) ?? [];
    if (key !== undefined) {
      return ofIssue(request, key, part);
    }
    if (/^GET issue\/createmeta\/SHOP\/issuetypes\/\d+$/.test(action)) {
      return paged(fields, 'values', request);
    }
    const version = { id: '30002', name: '2.0', archived: false, released: false };
    const served: Record<string, () => ForgeResponse> = {
      'GET myself': () => ({ status: 200, body: bot }),
      'GET issue/createmeta/SHOP/issuetypes': () => paged(types, 'values', request),
      'GET project/SHOP/components': () => ({ status: 200, body: [{ id: '20001', name: 'Till' }] }),
      'GET project/SHOP/versions': () => ({ status: 200, body: [version] }),
      'GET project/SHOP/statuses': () => ({
        status: 200,
        body: [{ id: '10002', name: 'Task', statuses: [{ name: 'To Do' }, { name: 'Done' }] }],
      }),
      'GET priority': () => ({ status: 200, body: priorities }),
      'GET user/assignable/search': () => paged(state.people, undefined, request),
      'POST search': () => search(request),
      'POST issue': () => create(request.body),
    };
    return served[action]?.() ?? missing(`null for uri: ${path}`);
  };

  const server = await startForgeServer(handle, raw);
  return Object.assign(server, {
    state,
    baseUrl: `${server.url}${contextPath}`,
    openIssue: (sent: Record<string, unknown> = {}) =>
      add({ summary: 'Broken', issuetype: { id: '10002', name: 'Task' }, ...sent }, mona.name).key,
    comment: (key: string, text: string) => void addComment(key, text, mona),
  });
}
