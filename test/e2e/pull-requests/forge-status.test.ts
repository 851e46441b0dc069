import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let github: GithubServer;
let gitlab: GitlabServer;

beforeAll(async () => {
  process.env.GITHUB_STATUS_TOKEN = githubToken;
  process.env.GITLAB_STATUS_TOKEN = `${gitlabToken}\n`;
  process.env.GITHUB_STALE_TOKEN = 'ghp_stale';
  process.env.OTHER_SECRET = 'not for a forge';
  [github, gitlab, stack] = await Promise.all([
    startGithubServer(),
    startGitlabServer(),
    startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true' }),
  ]);
  await stack.call.addRepository('shop', await aRepository(stack.dir));
});
afterAll(() => Promise.all([stack.close(), github.close(), gitlab.close()]));

const connection = (changed: object = {}) => ({
  kind: 'github',
  repository: 'acme/shop',
  baseUrl: github.baseUrl,
  credential: 'env:GITHUB_STATUS_TOKEN',
  ...changed,
});
const configure = (forge: object | null) => stack.call.send('PATCH', '/api/config/repos/shop', { forge });
const status = () => stack.call.ok('GET', '/api/github/status');

describe('the status of forges', () => {
  it('describes how to configure one where there is none', async () => {
    expect(await status()).toEqual({
      configured: false,
      remedy: expect.stringContaining('/api/config/repos'),
      repositories: [],
    });
  });

  it('names the account of the token, and never the token', async () => {
    expect(await configure(connection())).toMatchObject({ status: 200 });
    const answer = await status();
    expect(answer).toMatchObject({
      configured: true,
      remedy: null,
      repositories: [
        {
          repo: 'shop',
          state: 'connected',
          login: 'runboard-bot',
          mayPush: true,
          credential: 'env:GITHUB_STATUS_TOKEN',
        },
      ],
    });
    expect(JSON.stringify(answer)).not.toContain(githubToken);
  });

  it('asks the forge once for readers within half a minute', async () => {
    const before = github.requests.length;
    await Promise.all([status(), status()]);
    expect(github.requests).toHaveLength(before);
  });

  it('is connected to a GitLab in the same way', async () => {
    await configure(connection({ kind: 'gitlab', baseUrl: gitlab.baseUrl, credential: 'env:GITLAB_STATUS_TOKEN' }));
    expect((await status()).repositories).toMatchObject([{ kind: 'gitlab', state: 'connected', mayPush: true }]);
  });

  it.each([
    ['a token that the forge refuses', { credential: 'env:GITHUB_STALE_TOKEN' }, 'unauthorized'],
    ['a variable that the worker does not have', { credential: 'env:GITHUB_ABSENT' }, 'credential-missing'],
    ['a repository that the forge does not have', { repository: 'acme/other' }, 'not-found'],
  ])('reports what is wrong with %s', async (_name, changed, state) => {
    await configure(connection(changed));
    expect((await status()).repositories).toMatchObject([{ state, message: expect.any(String) }]);
  });

  it('reports that a forge does not respond, and is read again later', async () => {
    github.fail({ on: /^GET \/api\/v3\/user$/, answer: { status: 502 } });
    await configure(connection({ webhookSecret: 'env:GITHUB_WEBHOOK_SECRET' }));
    expect((await status()).repositories).toMatchObject([{ state: 'unavailable' }]);
  });

  it('is none again when the forge is removed', async () => {
    expect(await configure(null)).toMatchObject({ status: 200, body: { forge: null } });
    expect(await status()).toMatchObject({ configured: false });
  });
});

describe('the forge of a repository', () => {
  it.each([
    ['another variable of the worker', { credential: 'env:OTHER_SECRET' }, 'forge.credential'],
    ['a setting of the service', { credential: 'env:BOARD_ADMIN_KEY' }, 'forge.credential'],
    ['a token', { credential: githubToken }, 'forge.credential'],
    ['another variable for webhooks', { webhookSecret: 'env:HOME' }, 'forge.webhookSecret'],
    ['a password in the address', { baseUrl: 'https://user:pass@code.example/api/v3' }, 'forge.baseUrl'],
    ['an address that is no API of GitHub', { baseUrl: 'https://github.com' }, 'forge.baseUrl'],
    ['a file', { baseUrl: 'file:///etc/passwd' }, 'forge.baseUrl'],
    ['a repository with another path', { repository: '../../user' }, 'forge.repository'],
    ['a group of groups at GitHub', { repository: 'acme/shop/till' }, 'forge.repository'],
    ['another field', { token: 'x' }, 'forge.token'],
  ])('is refused with %s', async (_name, changed, path) => {
    const { status: code, body } = await configure(connection(changed));
    expect({ code, body }).toMatchObject({
      code: 400,
      body: { details: { issues: expect.arrayContaining([expect.objectContaining({ path })]) } },
    });
    expect(JSON.stringify(body)).not.toContain(githubToken);
  });
});
