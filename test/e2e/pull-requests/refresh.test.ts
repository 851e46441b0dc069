import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';
import { githubDelivery, gitlabDelivery } from '../../support/forges/webhooks';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const secret = 'a secret of this webhook';
let stack: Stack;
let github: GithubServer;
let gitlab: GitlabServer;

beforeAll(async () => {
  process.env.GITHUB_REFRESH_TOKEN = githubToken;
  process.env.GITLAB_REFRESH_TOKEN = gitlabToken;
  process.env.FORGE_REFRESH_WEBHOOK_SECRET = secret;
  stack = await startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' });
  github = await startGithubServer((await gitHttp(join(stack.dir, 'hub'), githubToken)).raw);
  gitlab = await startGitlabServer((await gitHttp(join(stack.dir, 'lab'), gitlabToken, 'oauth2')).raw);
  await connect('shop', { kind: 'github', baseUrl: github.baseUrl, credential: 'env:GITHUB_REFRESH_TOKEN' });
  await connect('lab', { kind: 'gitlab', baseUrl: gitlab.baseUrl, credential: 'env:GITLAB_REFRESH_TOKEN' });
});
afterAll(async () => {
  await stack.close();
  await Promise.all([github.close(), gitlab.close()]);
});

async function connect(name: string, forge: object): Promise<void> {
  await stack.call.addRepository(name, await aRepository(stack.dir, name));
  await stack.call.ok('PATCH', `/api/config/repos/${name}`, {
    forge: { repository: 'acme/shop', webhookSecret: 'env:FORGE_REFRESH_WEBHOOK_SECRET', ...forge },
  });
}

const configure = (repo: string, fields: object = {}) =>
  stack.call.ok('PUT', '/api/github/sync/config', {
    ...{ enabled: true, repo, syncMode: 'none', pollIntervalMs: 3_600_000, ...fields },
  });
const round = (repo: string) => stack.call.ok('POST', '/api/github/sync', { repo });

/** A task with a pull request, which no round has read yet. */
async function aPullRequest(repo: string, title: string): Promise<{ taskId: string; number: number; branch: string }> {
  const { id: taskId } = await stack.call.createTask({ title, git: { repo } });
  const { path, branch } = await stack.call.ok('POST', `/api/tasks/${taskId}/worktree`, {});
  await writeFile(join(path, `${taskId}.ts`), 'work\n');
  const { number } = await stack.call.ok('POST', '/api/github/pr', { taskId });
  return { taskId, number, branch };
}

const pullOf = (taskId: string) => stack.call.ok('GET', `/api/github/pr/${taskId}`);
const at = '2026-01-01T00:00:00Z';
const aComment = (id: number) => ({
  ...{ id, user: { login: 'mona' }, path: 'till.ts', line: 1, side: 'RIGHT', body: `Comment ${id}` },
  ...{ commit_id: 'c'.repeat(40), created_at: at, updated_at: at },
});
const readsOf = (number: number) => github.count(new RegExp(`^GET .*/pulls/${number}$`));
const deliver = (repo: string, headers: Record<string, string>, text: string) =>
  stack.call.send('POST', `/api/github/webhooks/${repo}`, text, headers);
const announce = (event: object, id?: string) => {
  const text = JSON.stringify(event);
  return deliver('shop', githubDelivery(text, secret, id), text);
};

describe('an open pull request', () => {
  it('is read by a round, and a closed one no more', async () => {
    const { taskId, number } = await aPullRequest('shop', 'Polled');
    const pull = github.state.pulls.find((one) => one.number === number);
    github.state.reviews.push({ user: { login: 'mona' }, state: 'APPROVED', body: 'Fine', submitted_at: at });
    github.state.reviewComments.push(aComment(1));
    Object.assign(pull ?? {}, { state: 'closed', merged_at: at });
    expect(await configure('shop')).toMatchObject({ syncMode: 'none', pullRequests: true });
    await round('shop');
    expect(await pullOf(taskId)).toMatchObject({ state: 'merged', review: { reviews: [{ state: 'approved' }] } });
    expect(await stack.call.ok('GET', `/api/diff/${taskId}/comments`)).toHaveLength(1);
    expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({
      comments: [{ author: 'forge', text: expect.stringContaining('was merged') }],
    });
    const reads = readsOf(number);
    await announce({ pull_request: { number } });
    await round('shop');
    expect(readsOf(number)).toBe(reads);
    expect(github.count(/\/issues/)).toBe(0);
  });

  it('is not read again by the next round', async () => {
    const { number } = await aPullRequest('shop', 'Twice');
    await round('shop');
    const reads = readsOf(number);
    expect(reads).toBeGreaterThan(0);
    await round('shop');
    expect(readsOf(number)).toBe(reads);
  });

  it('is left alone where the setting requests it', async () => {
    const { number } = await aPullRequest('shop', 'Alone');
    await configure('shop', { syncMode: 'inbound', pullRequests: false });
    await round('shop');
    expect(await announce({ pull_request: { number } })).toMatchObject({ status: 202 });
    await round('shop');
    expect(readsOf(number)).toBe(0);
    await configure('shop');
  });
});

describe('a webhook of GitHub', () => {
  it.each([
    ['pull_request', ({ number }: { number: number }) => ({ action: 'edited', pull_request: { number } })],
    ['pull_request_review', ({ number }: { number: number }) => ({ review: { id: 1 }, pull_request: { number } })],
    ['issue_comment', ({ number }: { number: number }) => ({ issue: { number, pull_request: {} } })],
    ['check_run', ({ sha }: { sha: string }) => ({ check_run: { head_sha: sha } })],
    ['check_suite', ({ sha }: { sha: string }) => ({ check_suite: { head_sha: sha } })],
    ['status', ({ sha }: { sha: string }) => ({ sha, context: 'build', state: 'success' })],
  ])('of the event %s has its pull request read', async (name, event) => {
    const { taskId, number } = await aPullRequest('shop', name);
    const before = await pullOf(taskId);
    expect(before).not.toHaveProperty('review');
    github.state.reviewComments.push(aComment(100 + number));
    expect(await announce(event({ number, sha: before.headSha }))).toMatchObject({ status: 202 });
    await eventually(async () => expect(await pullOf(taskId)).toHaveProperty('review'));
    const comments = await stack.call.ok('GET', `/api/diff/${taskId}/comments`);
    expect(comments.filter(({ body }: { body: string }) => body === `Comment ${100 + number}`)).toHaveLength(1);
  });

  it('that comes again, is not signed, or is of another pull request has nothing read', async () => {
    const { taskId, number } = await aPullRequest('shop', 'Replayed');
    const id = randomUUID();
    await announce({ pull_request: { number } }, id);
    await eventually(async () => expect(await pullOf(taskId)).toHaveProperty('review'));
    const { refreshedAt } = await pullOf(taskId);
    expect(await announce({ pull_request: { number } }, id)).toMatchObject({ body: { duplicate: true } });
    const text = JSON.stringify({ pull_request: { number } });
    expect((await deliver('shop', githubDelivery(text, 'another'), text)).status).toBe(401);
    const reads = readsOf(number);
    for (const event of [{ pull_request: { number: 9_999 } }, { check_run: { head_sha: 'd'.repeat(40) } }, [], 7]) {
      expect(await announce(event as object)).toMatchObject({ status: 202 });
    }
    await round('shop');
    // Pull requests of the tests before may be read again meanwhile: checks of their commit were announced.
    expect(readsOf(number)).toBe(reads);
    expect(github.count(/\/pulls\/9999|\/d{40}/)).toBe(0);
    expect(await pullOf(taskId)).toMatchObject({ refreshedAt });
  });

  it('is accepted while the forge asks to wait, and its pull request read after that', async () => {
    const { taskId, number } = await aPullRequest('shop', 'Limited');
    const limited = { status: 429, headers: { 'retry-after': '1' }, body: { message: 'Slow down' } };
    github.fail({ on: new RegExp(`^GET .*/pulls/${number}$`), answer: limited });
    const refused = await stack.call.post('/api/github/sync', { repo: 'shop' });
    expect(refused).toMatchObject({ status: 429, body: { code: 'FORGE_RATE_LIMITED' } });
    await announce({ pull_request: { number } });
    await eventually(async () => expect(await pullOf(taskId)).toHaveProperty('review'));
  });
});

describe('a pull request that cannot be read', () => {
  const status = () => stack.call.ok('GET', '/api/github/sync/status?repo=shop');

  it('is in the status of the synchronisation until it can be', async () => {
    const { taskId, number } = await aPullRequest('shop', 'Gone');
    github.fail({ on: new RegExp(`^GET .*/pulls/${number}$`), answer: { status: 404 } });
    await round('shop');
    expect(await status()).toMatchObject({
      state: 'synced',
      pullRequestErrors: 1,
      pullRequestProblems: [{ taskId, number, code: 'FORGE_NOT_FOUND', at: expect.any(String) }],
    });
    await stack.call.ok('POST', `/api/github/pr/${taskId}/refresh`);
    expect(await status()).toMatchObject({ pullRequestErrors: 0, pullRequestProblems: [] });
  });
});

describe('a request of a person', () => {
  it('is done after the refresh of a round, and not refused', async () => {
    const { taskId, number } = await aPullRequest('shop', 'Asked');
    github.fail({ on: new RegExp(`^GET .*/pulls/${number}$`), answer: { status: 503 } }, 3);
    const reading = round('shop');
    await eventually(() => expect(readsOf(number)).toBeGreaterThan(0));
    expect(await stack.call.post(`/api/github/pr/${taskId}/open`)).toMatchObject({ status: 200 });
    await reading;
  });
});

describe('a webhook of GitLab', () => {
  it.each([
    [
      'merge request',
      ({ number }: { number: number }) => ({ object_kind: 'merge_request', object_attributes: { iid: number } }),
    ],
    ['note', ({ number }: { number: number }) => ({ object_kind: 'note', merge_request: { iid: number } })],
    ['pipeline', ({ sha }: { sha: string }) => ({ object_kind: 'pipeline', object_attributes: { sha } })],
    ['job', ({ sha }: { sha: string }) => ({ object_kind: 'build', sha })],
  ])('of a %s has its merge request read', async (name, event) => {
    await configure('lab');
    const { taskId, number } = await aPullRequest('lab', name);
    const { headSha: sha } = await pullOf(taskId);
    const text = JSON.stringify(event({ number, sha }));
    expect((await deliver('lab', gitlabDelivery('another'), text)).status).toBe(401);
    expect(await pullOf(taskId)).not.toHaveProperty('review');
    expect(await deliver('lab', gitlabDelivery(secret), text)).toMatchObject({ status: 202 });
    await eventually(async () => expect(await pullOf(taskId)).toHaveProperty('review'));
  });
});
