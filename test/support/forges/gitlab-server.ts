import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ForgeRequest, type ForgeResponse, type ForgeServer, page, startForgeServer } from './forge-server';

export const gitlabToken = 'glpat-0123456789abcdefghij';

export interface GitlabState {
  issues: Record<string, any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- as it is on the wire
  mergeRequests: Record<string, any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- as it is on the wire
  notes: Map<number, object[]>;
  statuses: object[];
  approvals: object[];
  discussions: object[];
  labels: string[];
  milestones: { id: number; title: string }[];
  members: { id: number; username: string }[];
}

export interface GitlabServer extends ForgeServer {
  state: GitlabState;
  baseUrl: string;
  openIssue(fields?: object): number;
}

const notFound: ForgeResponse = { status: 404, body: { message: '404 Not Found' } };
const root = '/api/v4/projects/acme%2Fshop';
const at = '2026-01-01T00:00:00.000Z';

/**
 * The project `acme/shop` of a GitLab.
 *
 * @param raw takes requests of other protocols, such as git's
 */
export async function startGitlabServer(
  raw?: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<GitlabServer> {
  const state: GitlabState = {
    issues: [],
    mergeRequests: [],
    notes: new Map(),
    statuses: [],
    approvals: [],
    discussions: [],
    labels: [],
    milestones: [],
    members: [],
  };
  const openIssue = (fields: object = {}): number => {
    const iid = state.issues.length + 1;
    state.issues.push({
      iid,
      web_url: `https://gitlab.example/acme/shop/-/issues/${iid}`,
      title: `Issue ${iid}`,
      description: null,
      state: 'opened',
      labels: [],
      author: { username: 'mona' },
      user_notes_count: 0,
      updated_at: at,
      ...fields,
    });
    return iid;
  };

  const handle = (request: ForgeRequest, url: string): ForgeResponse => {
    if (request.headers['private-token'] !== gitlabToken) {
      return { status: 401, body: { message: '401 Unauthorized' } };
    }
    const { method, path, body } = request;
    if (path === '/api/v4/user') {
      return { status: 200, body: { username: 'runboard-bot' } };
    }
    if (!path.startsWith(root)) {
      return notFound;
    }
    const paged = (items: readonly unknown[]) => page(items, request, { url, usual: 20 });
    const [, kind, iid, part] = path.slice(root.length).split('/');
    const action = `${method} ${kind ?? ''}${iid === undefined ? '' : '/:iid'}${part === undefined ? '' : `/${part}`}`;
    switch (action) {
      case 'GET ':
        return { status: 200, body: { permissions: { project_access: { access_level: 40 }, group_access: null } } };
      case 'GET labels':
        return paged(state.labels.map((name) => ({ name })));
      case 'GET milestones':
        return paged(state.milestones);
      case 'GET members/:iid':
        return paged(state.members);
      case 'GET repository/:iid/' + String(part):
        return paged(state.statuses);
      case 'GET merge_requests':
        return paged(
          state.mergeRequests.filter(
            (one) => one.state === 'opened' && one.source_branch === request.query.get('source_branch'),
          ),
        );
      case 'POST merge_requests':
        return create(body);
      case 'GET merge_requests/:iid':
      case 'PUT merge_requests/:iid':
        return changed(state.mergeRequests, iid, method === 'PUT' ? body : undefined);
      case 'GET merge_requests/:iid/approvals':
        return { status: 200, body: { approved_by: state.approvals } };
      case 'GET merge_requests/:iid/discussions':
        return paged(state.discussions);
      case 'GET issues':
        return paged(issuesLike(request));
      case 'POST issues': {
        const labels = typeof body.labels === 'string' ? body.labels.split(',') : [];
        const made = openIssue({ ...body, labels });
        return { status: 201, body: state.issues.find((one) => one.iid === made) };
      }
      case 'PUT issues/:iid':
        return changed(state.issues, iid, withLabels(iid, body));
      case 'GET issues/:iid/notes':
        return paged(state.notes.get(Number(iid)) ?? []);
      case 'POST issues/:iid/notes': {
        const notes = state.notes.get(Number(iid)) ?? [];
        const note = {
          id: notes.length + 1,
          author: { username: 'runboard-bot' },
          created_at: at,
          updated_at: at,
          ...body,
        };
        state.notes.set(Number(iid), [...notes, note]);
        changed(state.issues, iid, { user_notes_count: notes.length + 1 });
        return { status: 201, body: note };
      }
      default:
        return notFound;
    }
  };

  const issuesLike = ({ query }: ForgeRequest) => {
    const labels = (query.get('labels') ?? '').split(',').filter(Boolean);
    const iids = query.getAll('iids[]').map(Number);
    return state.issues.filter(
      (issue) =>
        (iids.length === 0 || iids.includes(Number(issue.iid))) &&
        labels.every((label) => (issue.labels as string[]).includes(label)),
    );
  };

  function create(body: Record<string, unknown>): ForgeResponse {
    const same = state.mergeRequests.find((one) => one.state === 'opened' && one.source_branch === body.source_branch);
    if (same) {
      const message = [`Another open merge request already exists for this source branch: !${String(same.iid)}`];
      return { status: 409, body: { message } };
    }
    const iid = state.mergeRequests.length + 1;
    const made = {
      iid,
      web_url: `https://gitlab.example/acme/shop/-/merge_requests/${iid}`,
      state: 'opened',
      draft: String(body.title).startsWith('Draft:'),
      sha: 'b'.repeat(40),
      updated_at: at,
      ...body,
    };
    state.mergeRequests.push(made);
    return { status: 201, body: made };
  }

  /** The labels of an issue after those that are added and removed. */
  function withLabels(
    iid: string | undefined,
    { add_labels: add, remove_labels: remove, ...body }: Record<string, unknown>,
  ) {
    const [added, removed] = [add, remove].map((names) => (typeof names === 'string' ? names.split(',') : []));
    const labels = (state.issues.find((one) => one.iid === Number(iid))?.labels ?? []) as string[];
    return { ...body, labels: [...new Set([...labels.filter((one) => !removed?.includes(one)), ...(added ?? [])])] };
  }

  function changed(
    items: Record<string, unknown>[],
    iid: string | undefined,
    change: Record<string, unknown> | undefined,
  ): ForgeResponse {
    const item = items.find((one) => one.iid === Number(iid));
    if (!item) {
      return notFound;
    }
    const { state_event: event, ...fields } = change ?? {};
    Object.assign(item, fields, event === undefined ? {} : { state: event === 'close' ? 'closed' : 'opened' });
    if (typeof fields.title === 'string') {
      item.draft = fields.title.startsWith('Draft:');
    }
    return { status: 200, body: item };
  }

  const server = await startForgeServer(handle, raw);
  return Object.assign(server, { state, baseUrl: server.url, openIssue });
}
