import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GitlabServer, gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let gitlab: GitlabServer;
let remote: GitHttp;

beforeAll(async () => {
  process.env.GITLAB_PULLS_TOKEN = gitlabToken;
  stack = await startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true' });
  remote = await gitHttp(stack.dir, gitlabToken, 'oauth2');
  gitlab = await startGitlabServer(remote.raw);
  await stack.call.addRepository('shop', await aRepository(stack.dir));
  await stack.call.ok('PATCH', '/api/config/repos/shop', {
    forge: {
      kind: 'gitlab',
      repository: 'acme/shop',
      baseUrl: gitlab.baseUrl,
      credential: 'env:GITLAB_PULLS_TOKEN',
    },
  });
});
afterAll(async () => {
  await stack.close();
  await gitlab.close();
});

async function aWork(title: string, file: string): Promise<{ taskId: string; path: string; branch: string }> {
  const { id } = await stack.call.createTask({ title, description: 'Why it matters', git: { repo: 'shop' } });
  const { path, branch } = await stack.call.ok('POST', `/api/tasks/${id}/worktree`, {});
  await writeFile(join(path, file), `${title}\n`);
  return { taskId: id, path, branch };
}

const publish = (taskId: string, fields: object = {}) => stack.call.post('/api/github/pr', { taskId, ...fields });
const requestsOf = (branch: string) =>
  gitlab.state.mergeRequests.filter(({ source_branch: source }) => source === branch);

describe('the merge request of a task', () => {
  it('is made of a branch that is pushed as GitLab wants its token', async () => {
    const { taskId, path, branch } = await aWork('Fix the till', 'till.ts');
    const { status, body } = await publish(taskId, { draft: true });
    const head = await git(path, 'rev-parse', 'HEAD');
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { kind: 'gitlab', title: 'Fix the till', state: 'open', draft: true, headBranch: branch, pushedSha: head },
    });
    expect(await remote.head(branch)).toBe(head);
    expect(requestsOf(branch)).toMatchObject([
      { title: 'Draft: Fix the till', description: 'Why it matters', target_branch: 'main' },
    ]);
    const sent = [...remote.authorizations].filter(Boolean).map((header) => Buffer.from(header.slice(6), 'base64'));
    expect(sent.map(String)).toEqual([`oauth2:${gitlabToken}`]);
    expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({
      git: { prNumber: body.number, prUrl: body.url },
    });
  });

  it('gets new commits with the same call, and is opened for review', async () => {
    const { taskId, path, branch } = await aWork('Ring the bell', 'bell.ts');
    await publish(taskId, { draft: true });
    await writeFile(join(path, 'more.ts'), 'more\n');
    expect(await publish(taskId, { title: 'Ring both bells' })).toMatchObject({ status: 201, body: { draft: true } });
    expect(await remote.head(branch)).toBe(await git(path, 'rev-parse', 'HEAD'));
    expect(await stack.call.post(`/api/github/pr/${taskId}/open`)).toMatchObject({ body: { draft: false } });
    expect(requestsOf(branch)).toMatchObject([{ title: 'Ring both bells' }]);
  });

  it('is one although the answer of the forge was lost', async () => {
    const { taskId, branch } = await aWork('Lost', 'lost.ts');
    gitlab.fail({ on: /^POST .*\/merge_requests$/, answer: 'lost' });
    expect(await publish(taskId)).toMatchObject({ status: 201 });
    expect(requestsOf(branch)).toHaveLength(1);
  });

  it('is not pushed over commits of others, or with a token that is refused', async () => {
    const { taskId, path, branch } = await aWork('Moved', 'moved.ts');
    process.env.GITLAB_PULLS_TOKEN = 'glpat-revoked';
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'FORGE_UNAUTHORIZED' } });
    process.env.GITLAB_PULLS_TOKEN = gitlabToken;
    expect(await remote.head(branch)).toBeUndefined();
    expect(await publish(taskId)).toMatchObject({ status: 201 });
    await git(remote.path, 'update-ref', `refs/heads/${branch}`, await git(path, 'rev-parse', 'HEAD~1'));
    await writeFile(join(path, 'later.ts'), 'later\n');
    const other = await git(remote.path, 'commit-tree', '-m', 'Theirs', `${branch}^{tree}`);
    await git(remote.path, 'update-ref', `refs/heads/${branch}`, other);
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'PULL_REQUEST_BRANCH_MOVED' } });
    expect(await remote.head(branch)).toBe(other);
  });

  it('is read with its pipeline, approvals and discussions', async () => {
    const { taskId, branch } = await aWork('Review me', 'review.ts');
    await publish(taskId);
    gitlab.state.statuses.push({ name: 'build', status: 'failed', target_url: null });
    gitlab.state.approvals.push({ user: { username: 'mona' } });
    const note = {
      author: { username: 'mona' },
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    };
    const position = { new_path: 'review.ts', new_line: 1, head_sha: 'c'.repeat(40) };
    gitlab.state.discussions.push({ notes: [{ ...note, id: 7, body: 'Why?', position }] });
    Object.assign(requestsOf(branch)[0] ?? {}, { state: 'merged' });
    expect(await stack.call.post(`/api/github/pr/${taskId}/refresh`)).toMatchObject({
      status: 200,
      body: {
        state: 'merged',
        review: {
          checks: [{ name: 'build', state: 'failure' }],
          reviews: [{ author: 'mona', state: 'approved' }],
          reviewComments: { imported: 1, skipped: 0 },
        },
      },
    });
    expect(await stack.call.ok('GET', `/api/diff/${taskId}/comments`)).toMatchObject([
      { path: 'review.ts', line: 1, body: 'Why?', source: { name: 'gitlab' } },
    ]);
  });
});
