import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ForgeRequest, type ForgeResponse, type ForgeServer, page, startForgeServer } from './forge-server';

export const githubToken = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';

interface Issue {
  number: number;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  labels: { name: string }[];
  user: { login: string } | null;
  updated_at: string;
  html_url: string;
  comments: number;
  pull_request?: object;
}

interface Pull {
  number: number;
  node_id: string;
  html_url: string;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  merged_at: string | null;
  draft: boolean;
  head: { ref: string; sha: string };
  base: { ref: string };
  updated_at: string;
}

interface Comment {
  id: number;
  user: { login: string };
  body: string;
  created_at: string;
  updated_at: string;
}

/** What a GitHub has, as far as it is spoken to; tests read and change it. */
export interface GithubState {
  issues: Issue[];
  pulls: Pull[];
  comments: Map<number, Comment[]>;
  checkRuns: object[];
  statuses: object[];
  reviews: object[];
  reviewComments: object[];
  labels: string[];
  milestones: { number: number; title: string }[];
  assignees: string[];
  /** Types of issues of the organisation. */
  issueTypes: string[];
  mayPush: boolean;
  /** The clock of the forge; every change of an issue takes the next second. */
  clockMs: number;
}

export interface GithubServer extends ForgeServer {
  state: GithubState;
  /** The API of a GitHub Enterprise server. */
  baseUrl: string;
  /** Opens an issue as a person does, and returns its number. */
  openIssue(fields?: Partial<Omit<Issue, 'labels'>> & { labels?: string[] }): number;
  /** Changes an issue as a person does. */
  editIssue(number: number, fields: Partial<Issue>): void;
  comment(number: number, body: string, login?: string): Comment;
}

const notFound: ForgeResponse = { status: 404, body: { message: 'Not Found' } };
const repository = '/api/v3/repos/acme/shop';

/**
 * The repository `acme/shop` of a GitHub Enterprise server.
 *
 * @param raw takes requests of other protocols, such as git's
 */
export async function startGithubServer(
  raw?: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<GithubServer> {
  const state: GithubState = {
    issues: [],
    pulls: [],
    comments: new Map(),
    checkRuns: [],
    statuses: [],
    reviews: [],
    reviewComments: [],
    labels: [],
    milestones: [],
    assignees: [],
    issueTypes: [],
    mayPush: true,
    clockMs: Date.parse('2026-01-01T00:00:00Z'),
  };
  let ids = 1000;
  const tick = (): string => new Date((state.clockMs += 1_000)).toISOString().replace('.000Z', 'Z');
  const nextNumber = (): number => Math.max(0, ...[...state.issues, ...state.pulls].map(({ number }) => number)) + 1;

  const openIssue: GithubServer['openIssue'] = ({ labels = [], ...fields } = {}) => {
    const number = nextNumber();
    state.issues.push({
      number,
      title: `Issue ${number}`,
      body: null,
      state: 'open',
      user: { login: 'mona' },
      updated_at: tick(),
      html_url: `https://github.example/acme/shop/issues/${number}`,
      labels: labels.map((name) => ({ name })),
      comments: 0,
      ...fields,
    });
    return number;
  };
  const editIssue: GithubServer['editIssue'] = (number, fields) => {
    const issue = state.issues.find((one) => one.number === number);
    Object.assign(issue ?? {}, fields, { updated_at: tick() });
  };
  const comment: GithubServer['comment'] = (number, body, login = 'mona') => {
    const at = tick();
    const made = { id: (ids += 1), user: { login }, body, created_at: at, updated_at: at };
    state.comments.set(number, [...(state.comments.get(number) ?? []), made]);
    editIssue(number, { comments: state.comments.get(number)?.length ?? 0 });
    return made;
  };

  const handle = (request: ForgeRequest, url: string): ForgeResponse => {
    if (!/^(?:bearer|token) /i.test(request.headers.authorization ?? '')) {
      return { status: 401, body: { message: 'Requires authentication' } };
    }
    if (!request.headers.authorization?.endsWith(githubToken)) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const { method, path } = request;
    const paged = (items: readonly unknown[]) => page(items, request, { url, usual: 30 });
    if (path === '/api/v3/user') {
      return { status: 200, body: { login: 'runboard-bot' } };
    }
    if (path === '/api/graphql') {
      return graphql(request);
    }
    if (path === '/api/v3/orgs/acme/issue-types') {
      return { status: 200, body: state.issueTypes.map((name, id) => ({ id, name, is_enabled: true })) };
    }
    if (!path.startsWith(repository)) {
      return notFound;
    }
    const rest = path.slice(repository.length);
    const [, kind, number, part, name = ''] = rest.split('/');
    switch (`${method} ${kind ?? ''}${number === undefined ? '' : '/:number'}${part === undefined ? '' : `/${part}`}`) {
      case 'GET ':
        return { status: 200, body: { full_name: 'acme/shop', permissions: { push: state.mayPush, pull: true } } };
      case 'GET labels':
        return paged(state.labels.map((name) => ({ name })));
      case 'GET milestones':
        return paged(state.milestones);
      case 'GET assignees':
        return paged(state.assignees.map((login) => ({ login })));
      case 'GET commits/:number/check-runs': {
        const list = paged(state.checkRuns);
        return { ...list, body: { total_count: state.checkRuns.length, check_runs: list.body } };
      }
      case 'GET commits/:number/statuses':
        return paged(state.statuses);
      case 'GET pulls':
        return paged(pullsLike(request));
      case 'POST pulls':
        return createPull(request.body);
      case 'GET pulls/:number/reviews':
        return paged(state.reviews);
      case 'GET pulls/:number/comments':
        return paged(state.reviewComments);
      case 'GET pulls/:number':
      case 'PATCH pulls/:number':
        return changed(state.pulls, number, method === 'PATCH' ? pullChange(request.body) : undefined);
      case 'GET issues':
        return paged(issuesLike(request));
      case 'POST issues':
        return createIssue(request.body);
      case 'GET issues/:number':
      case 'PATCH issues/:number':
        return changed(state.issues, number, method === 'PATCH' ? request.body : undefined);
      case 'POST issues/:number/labels':
      case 'DELETE issues/:number/labels':
        return changeLabels(Number(number), request, name);
      case 'GET issues/:number/comments': {
        const since = request.query.get('since') ?? '';
        return paged((state.comments.get(Number(number)) ?? []).filter(({ updated_at: at }) => isSince(at, since)));
      }
      case 'POST issues/:number/comments':
        return { status: 201, body: comment(Number(number), String(request.body.body), 'runboard-bot') };
      default:
        return notFound;
    }
  };

  function graphql({ body }: ForgeRequest): ForgeResponse {
    const { id } = body.variables as { id: string };
    const pull = state.pulls.find(({ node_id: node }) => node === id);
    if (!pull) {
      return { status: 200, body: { errors: [{ message: 'Could not resolve to a node' }] } };
    }
    pull.draft = String(body.query).includes('convertPullRequestToDraft');
    return { status: 200, body: { data: { done: { clientMutationId: null } } } };
  }

  const pullsLike = ({ query }: ForgeRequest): Pull[] => {
    const head = query.get('head');
    const base = query.get('base');
    const wanted = query.get('state') ?? 'open';
    return state.pulls.filter(
      (pull) =>
        (wanted === 'all' || pull.state === wanted) &&
        (head === null || `acme:${pull.head.ref}` === head) &&
        (base === null || pull.base.ref === base),
    );
  };

  const issuesLike = ({ query }: ForgeRequest): Issue[] => {
    const labels = (query.get('labels') ?? '').split(',').filter(Boolean);
    const since = query.get('since') ?? '';
    const wanted = query.get('state') ?? 'open';
    return state.issues
      .filter(
        (issue) =>
          (wanted === 'all' || issue.state === wanted) &&
          isSince(issue.updated_at, since) &&
          labels.every((label) => issue.labels.some(({ name }) => name === label)),
      )
      .sort((a, b) => (a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : a.number - b.number));
  };

  function createPull(body: Record<string, unknown>): ForgeResponse {
    const { title, head, base, draft = false } = body as { title: string; head: string; base: string; draft?: boolean };
    const existing = state.pulls.find(
      (pull) => pull.state === 'open' && pull.head.ref === head && pull.base.ref === base,
    );
    if (existing) {
      const message = `A pull request already exists for acme:${head}.`;
      return { status: 422, body: { message: 'Validation Failed', errors: [{ resource: 'PullRequest', message }] } };
    }
    const number = nextNumber();
    const made: Pull = {
      number,
      node_id: `PR_${number}`,
      html_url: `https://github.example/acme/shop/pull/${number}`,
      title,
      body: (body.body as string | undefined) ?? null,
      state: 'open',
      merged_at: null,
      draft,
      head: { ref: head, sha: 'a'.repeat(40) },
      base: { ref: base },
      updated_at: tick(),
    };
    state.pulls.push(made);
    return { status: 201, body: made };
  }

  const pullChange = ({ base, ...body }: Record<string, unknown>) => ({
    ...body,
    ...(base === undefined ? {} : { base: { ref: base } }),
  });

  function createIssue({ title, body, labels = [], ...others }: Record<string, unknown>): ForgeResponse {
    const number = openIssue({
      title: String(title),
      body: (body as string | undefined) ?? null,
      labels: labels as string[],
      user: { login: 'runboard-bot' },
    });
    const made = state.issues.find((issue) => issue.number === number);
    const type = others.type === undefined ? null : { name: others.type };
    return { status: 201, body: Object.assign(made ?? {}, others, { type }) };
  }

  function changeLabels(number: number, { method, body }: ForgeRequest, name: string): ForgeResponse {
    const issue = state.issues.find((one) => one.number === number);
    const removed = decodeURIComponent(name);
    if (!issue || (method === 'DELETE' && issue.labels.every((label) => label.name !== removed))) {
      return notFound;
    }
    const added = method === 'POST' ? (body.labels as string[]) : [];
    const labels = issue.labels.filter((label) => label.name !== removed && !added.includes(label.name));
    editIssue(number, { labels: [...labels, ...added.map((label) => ({ name: label }))] });
    return { status: 200, body: issue.labels };
  }

  function changed(items: (Issue | Pull)[], number: string | undefined, change: object | undefined): ForgeResponse {
    const item = items.find((one) => one.number === Number(number));
    if (!item) {
      return notFound;
    }
    if (change) {
      Object.assign(item, change, { updated_at: tick() });
    }
    return { status: 200, body: item };
  }

  const server = await startForgeServer(handle, raw);
  return Object.assign(server, { state, baseUrl: `${server.url}/api/v3`, openIssue, editIssue, comment });
}

const isSince = (at: string, since: string): boolean => since === '' || Date.parse(at) >= Date.parse(since);
