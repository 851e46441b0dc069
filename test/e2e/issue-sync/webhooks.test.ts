import { createHmac, randomUUID } from 'node:crypto';
import { eventually } from '../../../platform/testing/eventually';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const secret = 'a secret of this webhook';
let stack: Stack;
let github: GithubServer;
let gitlab: GitlabServer;

const configure = (repo: string, fields: object = {}) =>
  stack.call.ok('PUT', '/api/github/sync/config', { enabled: true, repo, pollIntervalMs: 3_600_000, ...fields });

beforeAll(async () => {
  process.env.GITHUB_HOOKS_TOKEN = githubToken;
  process.env.GITLAB_HOOKS_TOKEN = gitlabToken;
  process.env.GITHUB_WEBHOOK_SECRET = secret;
  process.env.GITLAB_WEBHOOK_SECRET = secret;
  [github, gitlab, stack] = await Promise.all([
    startGithubServer(),
    startGitlabServer(),
    startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' }),
  ]);
  const connect = async (name: string, forge: object) => {
    await stack.call.addRepository(name, await aRepository(stack.dir, name));
    await stack.call.ok('PATCH', `/api/config/repos/${name}`, { forge: { repository: 'acme/shop', ...forge } });
  };
  await connect('shop', {
    ...{ kind: 'github', baseUrl: github.baseUrl, credential: 'env:GITHUB_HOOKS_TOKEN' },
    webhookSecret: 'env:GITHUB_WEBHOOK_SECRET',
  });
  await connect('lab', {
    ...{ kind: 'gitlab', baseUrl: gitlab.baseUrl, credential: 'env:GITLAB_HOOKS_TOKEN' },
    webhookSecret: 'env:GITLAB_WEBHOOK_SECRET',
  });
  await connect('silent', { kind: 'github', baseUrl: github.baseUrl, credential: 'env:GITHUB_HOOKS_TOKEN' });
  await connect('keyless', {
    ...{ kind: 'github', baseUrl: github.baseUrl, credential: 'env:GITHUB_HOOKS_TOKEN' },
    webhookSecret: 'env:GITHUB_ABSENT_WEBHOOK_SECRET',
  });
});
afterAll(() => Promise.all([stack.close(), github.close(), gitlab.close()]));

const body = JSON.stringify({ action: 'opened', issue: { number: 99, title: 'Not true' } });
const signature = (text: string, key = secret) => `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
const deliver = (repo: string, headers: Record<string, string>, text = body) =>
  stack.call.send('POST', `/api/github/webhooks/${repo}`, text, headers);
const signed = (id: string = randomUUID(), text = body) => ({
  'X-Hub-Signature-256': signature(text),
  'X-GitHub-Delivery': id,
  'X-GitHub-Event': 'issues',
});
const titles = async () =>
  (await stack.call.ok('GET', '/api/tasks')).tasks.map(({ title }: { title: string }) => title);

describe('a webhook of GitHub', () => {
  it('has the forge read, and is not believed', async () => {
    await configure('shop');
    await stack.call.ok('POST', '/api/github/sync');
    github.openIssue({ title: 'True' });
    expect(await deliver('shop', signed())).toMatchObject({ status: 202, body: { accepted: true, duplicate: false } });
    await eventually(async () => expect(await titles()).toEqual(['True']));
  });

  it('is done once, however often it is delivered', async () => {
    const id = randomUUID();
    expect(await deliver('shop', signed(id))).toMatchObject({ status: 202, body: { duplicate: false } });
    expect(await deliver('shop', signed(id))).toMatchObject({ status: 202, body: { duplicate: true } });
  });

  it('needs no JSON, and no key', async () => {
    const text = 'payload=%7B%7D';
    const headers = { ...signed(randomUUID(), text), 'content-type': 'application/x-www-form-urlencoded' };
    expect((await deliver('shop', headers, text)).status).toBe(202);
  });

  it.each([
    ['no signature', { 'X-Hub-Signature-256': '' }],
    ['that of another secret', { 'X-Hub-Signature-256': signature(body, 'another') }],
    ['that of another body', { 'X-Hub-Signature-256': signature(`${body} `) }],
    ['one of SHA-1', { 'X-Hub-Signature-256': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}` }],
    ['the secret itself, as GitLab sends it', { 'X-Hub-Signature-256': '', 'X-Gitlab-Token': secret }],
  ])('is refused with %s', async (_name, headers) => {
    const refused = await deliver('shop', { ...signed(), ...headers });
    expect(refused).toMatchObject({ status: 401, body: { code: 'WEBHOOK_UNVERIFIED' } });
    expect(JSON.stringify(refused.body)).not.toContain(secret);
  });

  it('is refused without the id of its delivery, packed, or too large', async () => {
    const { 'X-GitHub-Delivery': _id, ...anonymous } = signed();
    expect((await deliver('shop', anonymous)).status).toBe(400);
    expect((await deliver('shop', { ...signed(), 'content-encoding': 'gzip' })).status).toBe(415);
    const large = 'x'.repeat(1_048_577);
    expect((await deliver('shop', signed(randomUUID(), large), large)).status).toBe(413);
  });

  it('is refused where no secret is configured, or the API has none, and the repository is not revealed', async () => {
    const silent = await deliver('silent', signed());
    expect(silent).toMatchObject({ status: 404, body: { error: expect.stringContaining('webhookSecret') } });
    const unknown = await deliver('nothing', signed());
    expect(unknown.body).toEqual(JSON.parse(JSON.stringify(silent.body).replaceAll('silent', 'nothing')));
    expect(await deliver('keyless', signed())).toMatchObject({ status: 403, body: { code: 'WEBHOOK_SECRET_MISSING' } });
  });

  it('is refused while issues are not read, so that the forge shows it', async () => {
    await configure('shop', { syncMode: 'outbound', pullRequests: false });
    expect((await deliver('shop', signed())).status).toBe(409);
    await configure('shop', { enabled: false });
    expect(await deliver('shop', signed())).toMatchObject({ status: 409, body: { code: 'ISSUE_SYNC_DISABLED' } });
  });
});

describe('a webhook of GitLab', () => {
  const token = (id: string = randomUUID()) => ({ 'X-Gitlab-Token': secret, 'X-Gitlab-Event-UUID': id });

  it('is known by its token', async () => {
    await configure('lab');
    await stack.call.ok('POST', '/api/github/sync', { repo: 'lab' });
    // Another number: the issue 1 of this name is that of GitHub.
    gitlab.openIssue({ title: 'From GitLab', iid: 7 });
    expect(await deliver('lab', token())).toMatchObject({ status: 202, body: { accepted: true } });
    await eventually(async () => expect(await titles()).toContain('From GitLab'));
    for (const wrong of ['', 'another', signature(body)]) {
      expect((await deliver('lab', { ...token(), 'X-Gitlab-Token': wrong })).status).toBe(401);
    }
  });
});

describe('several repositories', () => {
  it('have a configuration each, which a request has to name', async () => {
    await stack.call.ok('PATCH', '/api/config/repos/silent', {
      forge: {
        ...{ kind: 'github', repository: 'acme/till' },
        ...{ baseUrl: github.baseUrl, credential: 'env:GITHUB_HOOKS_TOKEN' },
      },
    });
    await configure('silent');
    const refused = await stack.call.post('/api/github/sync');
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'repo' }] } } });
    expect(await stack.call.ok('GET', '/api/github/sync/config?repo=lab')).toMatchObject({ repo: 'lab' });
    expect((await stack.call.get('/api/github/sync/config?repo=acme/shop')).status).toBe(400);
    expect(await stack.call.ok('GET', '/api/github/sync/status?repo=silent')).toMatchObject({ repo: 'silent' });
  });

  it('of the same repository at the forge are refused, since each would have the tasks of the other', async () => {
    const refused = await stack.call.send('PUT', '/api/github/sync/config', { enabled: true, repo: 'shop' });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'ISSUE_SYNC_DUPLICATE', details: { other: expect.any(String) } },
    });
  });

  it('that have lost their forge report it, and can be disabled', async () => {
    await stack.call.ok('PATCH', '/api/config/repos/silent', { forge: null });
    const refused = await stack.call.post('/api/github/sync', { repo: 'silent' });
    expect(refused).toMatchObject({ status: 502, body: { code: 'FORGE_NOT_CONFIGURED' } });
    expect(await configure('silent', { enabled: false })).toMatchObject({ enabled: false, repository: null });
    expect((await stack.call.post('/api/github/sync', { repo: 'silent' })).status).toBe(409);
  });
});
