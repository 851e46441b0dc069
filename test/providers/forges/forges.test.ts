import type { Forge, ForgeSettings } from '../../../providers/forges/forge';
import type { ForgeError } from '../../../providers/forges/forge-error';
import { openForge } from '../../../providers/forges/open-forge';
import type { ForgeServer } from '../../support/forges/forge-server';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';

let github: GithubServer;
let gitlab: GitlabServer;

beforeAll(async () => {
  [github, gitlab] = await Promise.all([startGithubServer(), startGitlabServer()]);
});
afterAll(() => Promise.all([github.close(), gitlab.close()]));

const settingsOf = (kind: ForgeSettings['kind'], changed: Partial<ForgeSettings> = {}): ForgeSettings => ({
  kind,
  baseUrl: kind === 'github' ? github.baseUrl : gitlab.baseUrl,
  repository: 'acme/shop',
  token: kind === 'github' ? githubToken : gitlabToken,
  allowPrivate: true,
  ...changed,
});
const request = {
  title: 'Fix the till',
  body: 'It rings twice.',
  headBranch: 'board/till',
  baseBranch: 'main',
  draft: true,
};

async function everyIssue(forge: Forge, labels: string[] = []): Promise<number[]> {
  const numbers: number[] = [];
  for await (const page of forge.issues({ labels })) {
    numbers.push(...page.map(({ number }) => number));
  }
  return numbers;
}

describe.each(['github', 'gitlab'] as const)('the forge %s', (kind) => {
  let forge: Forge;
  let server: ForgeServer & { openIssue(fields?: object): number };
  const pulls = kind === 'github' ? /^POST .*\/pulls$/ : /^POST .*\/merge_requests$/;

  beforeAll(() => {
    forge = openForge(settingsOf(kind));
    server = kind === 'github' ? github : gitlab;
  });

  it('reports whose token it is and whether it may push', async () => {
    expect(await forge.check()).toEqual({ login: 'runboard-bot', mayPush: true });
  });

  it('creates a pull request, finds it by its branch and changes it', async () => {
    expect(await forge.findPullRequest(request)).toBeUndefined();
    const made = await forge.createPullRequest(request);
    expect(made).toMatchObject({ title: 'Fix the till', state: 'open', draft: true, headBranch: 'board/till' });
    expect(await forge.findPullRequest({ headBranch: 'board/till' })).toEqual(made);
    expect(await forge.updatePullRequest(made.number, { title: 'Fix the bell', draft: false })).toMatchObject({
      title: 'Fix the bell',
      draft: false,
    });
    expect(await forge.updatePullRequest(made.number, { state: 'closed' })).toMatchObject({ state: 'closed' });
    expect(await forge.updatePullRequest(made.number, { state: 'open' })).toMatchObject({ state: 'open' });
  });

  it('adds and removes labels of an issue, and leaves the others', async () => {
    const { number } = await forge.createIssue({ title: 'Labels', body: '', labels: ['a b', 'type/x'] });
    const change = { removeLabels: ['type/x', 'gone'], addLabels: ['type: y'] };
    expect((await forge.updateIssue(number, change)).labels).toEqual(['a b', 'type: y']);
    const renamed = await forge.updateIssue(number, { title: 'Renamed', removeLabels: ['a b'] });
    expect(renamed).toMatchObject({ title: 'Renamed', labels: ['type: y'] });
  });

  it('refuses a second pull request of a branch', async () => {
    await expect(forge.createPullRequest(request)).rejects.toMatchObject({
      code: 'invalid',
      message: /already exists/,
    });
  });

  it('has made a pull request whose answer was lost', async () => {
    server.fail({ on: pulls, answer: 'lost' });
    await expect(forge.createPullRequest({ ...request, headBranch: 'board/lost' })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await forge.findPullRequest({ headBranch: 'board/lost' })).toMatchObject({ title: 'Fix the till' });
  });

  it('creates, closes and lists issues with their comments', async () => {
    const made = await forge.createIssue({ title: 'Broken', body: 'See.', labels: ['board'] });
    expect(made).toMatchObject({ title: 'Broken', state: 'open', labels: ['board'], author: expect.any(String) });
    expect(await forge.updateIssue(made.number, { state: 'closed' })).toMatchObject({ state: 'closed' });
    expect(await forge.getIssue(made.number)).toMatchObject({ state: 'closed', body: 'See.' });
    const comment = await forge.addComment(made.number, 'Done.');
    expect(await forge.commentsOf(made.number)).toEqual([comment]);
  });

  it('reads every page of a list', async () => {
    const numbers = Array.from({ length: 205 }, () => server.openIssue({ labels: ['many'] }));
    expect(await everyIssue(forge, ['many'])).toEqual(numbers);
  });

  it('reports a refused token as one', async () => {
    const unauthenticated = openForge(settingsOf(kind, { token: 'wrong' }));
    await expect(unauthenticated.check()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it.each([
    ['a primary limit', { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '' } }],
    ['a secondary limit', { status: 403, headers: { 'retry-after': '7' } }],
    ['too many requests', { status: 429, headers: { 'retry-after': '7' } }],
  ])('states the wait of %s', async (_limit, { status, headers }) => {
    const before = server.requests.length;
    const inSevenSeconds = String(Math.ceil(Date.now() / 1_000) + 7);
    const sent = 'x-ratelimit-reset' in headers ? { ...headers, 'x-ratelimit-reset': inSevenSeconds } : headers;
    server.fail({
      on: /issues/,
      answer: { status, headers: sent, body: { message: 'Slow.' } },
    });
    const error = await forge.getIssue(1).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'rate-limited', message: expect.stringContaining('Slow.') });
    expect((error as ForgeError).retryAfterMs).toBeGreaterThan(5_000);
    expect((error as ForgeError).retryAfterMs).toBeLessThan(10_000);
    // The wait is the workflow's: no library has tried again.
    expect(server.requests.length).toBe(before + 1);
  });

  it.each([
    ['an error of the server', { status: 502, body: { message: 'Bad Gateway' } }, 'unavailable'],
    ['a page that is no JSON', { status: 200, body: '<html>' }, 'unavailable'],
    ['a redirect', { status: 301, headers: { location: 'https://evil.example/' } }, 'moved'],
    ['a refusal', { status: 403, body: { message: 'Resource not accessible' } }, 'forbidden'],
    ['nothing', 'cut' as const, 'unavailable'],
  ])('reports %s once, and does not follow it', async (_case, answer, code) => {
    const before = server.requests.length;
    server.fail({ on: /issues/, answer });
    await expect(forge.getIssue(1)).rejects.toMatchObject({ name: 'ForgeError', code });
    expect(server.requests.length).toBe(before + 1);
  });

  it('goes to no other address than its own with the token', async () => {
    const elsewhere = { link: '<http://127.0.0.1:1/api?page=2>; rel="next"' };
    server.fail({
      on: /GET .*(?:reviews|notes|discussions|comments)/,
      answer: { status: 200, headers: elsewhere, body: [] },
    });
    const read = await forge.reviewCommentsOf(1).catch((error: unknown) => error);
    // GitLab's library takes the query of a link and no more; GitHub's takes all of it, which is refused.
    expect(kind === 'gitlab' ? Array.isArray(read) : (read as { code: string }).code).toBe(
      kind === 'gitlab' ? true : 'refused-address',
    );
  });

  it('is not reached at a private address unless that is allowed', async () => {
    const before = server.requests.length;
    const outside = openForge(settingsOf(kind, { allowPrivate: false }));
    await expect(outside.check()).rejects.toMatchObject({ code: 'refused-address' });
    expect(server.requests.length).toBe(before);
  });

  it('has its token in no error', async () => {
    server.fail({ on: /./, answer: { status: 500, body: { message: 'oops' } } });
    const error = (await forge.check().catch((thrown: unknown) => thrown)) as Error;
    expect(`${error.message} ${error.stack ?? ''} ${JSON.stringify(error)}`).not.toContain(settingsOf(kind).token);
  });
});

describe('pull requests of GitHub', () => {
  it('have checks, reviews and comments on lines', async () => {
    const forge = openForge(settingsOf('github'));
    const at = '2026-01-02T00:00:00Z';
    github.state.checkRuns = [
      { name: 'build', status: 'completed', conclusion: 'success', html_url: 'https://ci.example/1' },
      { name: 'test', status: 'in_progress', conclusion: null, html_url: null },
    ];
    github.state.statuses = [
      { context: 'deploy', state: 'failure', target_url: null },
      { context: 'deploy', state: 'pending', target_url: null },
    ];
    github.state.reviews = [{ user: { login: 'ada' }, state: 'CHANGES_REQUESTED', body: 'No.', submitted_at: at }];
    github.state.reviewComments = [
      { id: 7, user: null, path: 'till.ts', line: 3, side: 'LEFT', body: 'Why?', created_at: at, updated_at: at },
      {
        id: 8,
        user: { login: 'bo' },
        path: 'till.ts',
        line: null,
        body: 'So.',
        in_reply_to_id: 7,
        created_at: at,
        updated_at: at,
      },
    ];
    expect(await forge.checksOf('a'.repeat(40))).toEqual([
      { name: 'build', state: 'success', url: 'https://ci.example/1' },
      { name: 'test', state: 'pending', url: null },
      { name: 'deploy', state: 'failure', url: null },
    ]);
    expect(await forge.reviewsOf(1)).toEqual([
      { author: 'ada', state: 'changes-requested', body: 'No.', submittedAt: '2026-01-02T00:00:00.000Z' },
    ]);
    expect(await forge.reviewCommentsOf(1)).toMatchObject([
      { id: '7', author: 'ghost', path: 'till.ts', line: 3, side: 'old', inReplyTo: null },
      { id: '8', author: 'bo', line: null, side: 'new', inReplyTo: '7' },
    ]);
  });

  it('are not among the issues', async () => {
    const number = github.openIssue({ pull_request: {}, labels: ['mixed'] });
    const issue = github.openIssue({ labels: ['mixed'] });
    expect(await everyIssue(openForge(settingsOf('github')), ['mixed'])).toEqual([issue]);
    expect(number).toBeLessThan(issue);
  });
});

describe('merge requests of GitLab', () => {
  it('have checks, approvals and comments on lines', async () => {
    const forge = openForge(settingsOf('gitlab'));
    const at = '2026-01-02T00:00:00.000+02:00';
    const note = { author: { username: 'ada' }, created_at: at, updated_at: at };
    gitlab.state.statuses = [{ name: 'build', status: 'failed', target_url: null }];
    gitlab.state.approvals = [{ user: { username: 'ada' } }];
    gitlab.state.discussions = [
      {
        notes: [
          { id: 1, body: 'Why?', position: { new_path: 'till.ts', new_line: 4, head_sha: 'c'.repeat(40) }, ...note },
          { id: 2, body: 'So.', ...note },
        ],
      },
      { notes: [{ id: 3, body: 'approved', system: true, ...note }] },
    ];
    expect(await forge.checksOf('b'.repeat(40))).toEqual([{ name: 'build', state: 'failure', url: null }]);
    expect(await forge.reviewsOf(1)).toMatchObject([{ author: 'ada', state: 'approved' }]);
    expect(await forge.reviewCommentsOf(1)).toMatchObject([
      { id: '1', path: 'till.ts', line: 4, side: 'new', createdAt: '2026-01-01T22:00:00.000Z' },
      { id: '2', path: 'till.ts', line: 4, inReplyTo: '1' },
    ]);
  });
});
