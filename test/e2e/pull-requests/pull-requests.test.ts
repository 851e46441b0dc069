import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let github: GithubServer;
let remote: GitHttp;
let repositoryPath: string;

beforeAll(async () => {
  process.env.GITHUB_PULLS_TOKEN = githubToken;
  process.env.GITHUB_STALE_TOKEN = 'ghp_stale';
  stack = await startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true' });
  remote = await gitHttp(stack.dir, githubToken);
  github = await startGithubServer(remote.raw);
  repositoryPath = await aRepository(stack.dir);
  await stack.call.addRepository('shop', repositoryPath);
  await connect();
});
afterAll(async () => {
  await stack.close();
  await github.close();
});

const connect = (changed: object | null = {}) =>
  stack.call.ok('PATCH', '/api/config/repos/shop', {
    forge: changed && {
      kind: 'github',
      repository: 'acme/shop',
      baseUrl: github.baseUrl,
      credential: 'env:GITHUB_PULLS_TOKEN',
      ...changed,
    },
  });

interface Work {
  taskId: string;
  path: string;
  branch: string;
}

/** A task with a worktree; `file` is written in it and not committed. */
async function aWork(title: string, file?: string): Promise<Work> {
  const { id } = await stack.call.createTask({ title, description: 'Why it matters', git: { repo: 'shop' } });
  const { path, branch } = await stack.call.ok('POST', `/api/tasks/${id}/worktree`, {});
  if (file !== undefined) {
    await writeFile(join(path, file), `${title}\n`);
  }
  return { taskId: id, path, branch };
}

const publish = (taskId: string, fields: object = {}) => stack.call.post('/api/github/pr', { taskId, ...fields });
const pullsOf = (branch: string) => github.state.pulls.filter(({ head }) => head.ref === branch);

describe('the pull request of a task', () => {
  let work: Work;

  it('is made of what is not committed, and written on the task', async () => {
    work = await aWork('Fix the till', 'till.ts');
    const { status, body } = await publish(work.taskId, { draft: true });
    const head = await git(work.path, 'rev-parse', 'HEAD');
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        taskId: work.taskId,
        repo: 'shop',
        title: 'Fix the till',
        state: 'open',
        draft: true,
        headBranch: work.branch,
        baseBranch: 'main',
        pushedSha: head,
        number: expect.any(Number),
        url: expect.stringContaining('/pull/'),
      },
    });
    expect(await remote.head(work.branch)).toBe(head);
    expect(pullsOf(work.branch)).toMatchObject([{ body: 'Why it matters', draft: true }]);
    expect(await stack.call.ok('GET', `/api/tasks/${work.taskId}`)).toMatchObject({
      git: { prNumber: body.number, prUrl: body.url },
    });
  });

  it('is read as it was found last, and is in the audit log', async () => {
    const read = await stack.call.ok('GET', `/api/github/pr/${work.taskId}`);
    expect(read).toMatchObject({ headBranch: work.branch, refreshedAt: expect.any(String) });
    const { entries } = await stack.call.ok('GET', '/api/audit?action=pull-request.publish');
    expect(entries).toMatchObject([{ resource: work.taskId, details: { number: read.number } }]);
  });

  it('gets new commits and a title with the same call', async () => {
    await writeFile(join(work.path, 'bell.ts'), 'ring\n');
    const { status, body } = await publish(work.taskId, { title: 'Fix the bell' });
    expect({ status, body }).toMatchObject({ status: 201, body: { title: 'Fix the bell', draft: true } });
    expect(await remote.head(work.branch)).toBe(await git(work.path, 'rev-parse', 'HEAD'));
    expect(pullsOf(work.branch)).toHaveLength(1);
  });

  it('is opened for review', async () => {
    expect(await stack.call.post(`/api/github/pr/${work.taskId}/open`)).toMatchObject({
      status: 200,
      body: { state: 'open', draft: false },
    });
    const [pull] = pullsOf(work.branch);
    Object.assign(pull ?? {}, { state: 'closed' });
    expect((await stack.call.post(`/api/github/pr/${work.taskId}/open`)).body).toMatchObject({ state: 'open' });
  });

  it('follows a branch that was rebased, which was pushed from here', async () => {
    await git(work.path, 'commit', '--quiet', '--amend', '-m', 'Ring');
    expect(await publish(work.taskId)).toMatchObject({ status: 201 });
    expect(await remote.head(work.branch)).toBe(await git(work.path, 'rev-parse', 'HEAD'));
  });

  it('is not pushed over commits of others', async () => {
    const other = join(stack.dir, 'other');
    await git(stack.dir, 'clone', '--quiet', '--branch', work.branch, remote.path, other);
    await git(other, 'commit', '--quiet', '--allow-empty', '-m', 'By a reviewer');
    await git(other, 'push', '--quiet', 'origin', work.branch);
    const theirs = await remote.head(work.branch);
    await writeFile(join(work.path, 'later.ts'), 'later\n');
    expect(await publish(work.taskId)).toMatchObject({
      status: 409,
      body: { code: 'PULL_REQUEST_BRANCH_MOVED', details: { at: theirs } },
    });
    expect(await remote.head(work.branch)).toBe(theirs);
    await git(work.path, 'pull', '--quiet', '--no-rebase', other, work.branch);
    expect(await publish(work.taskId)).toMatchObject({ status: 201 });
    expect(await remote.head(work.branch)).toBe(await git(work.path, 'rev-parse', 'HEAD'));
  });

  it('is one for requests at once', async () => {
    const { taskId, branch } = await aWork('Twice', 'twice.ts');
    const [one, other] = await Promise.all([publish(taskId), publish(taskId)]);
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(other.body.number).toBe(one.body.number);
    expect(pullsOf(branch)).toHaveLength(1);
  });

  it('is one although the answer of the forge was lost', async () => {
    const { taskId, branch } = await aWork('Lost', 'lost.ts');
    github.fail({ on: /^POST .*\/pulls$/, answer: 'lost' });
    expect(await publish(taskId)).toMatchObject({ status: 201 });
    expect(pullsOf(branch)).toHaveLength(1);
  });

  it('waits as long as the forge asks', async () => {
    const { taskId, branch } = await aWork('Limited', 'limited.ts');
    github.fail({ on: /^POST .*\/pulls$/, answer: { status: 429, headers: { 'retry-after': '1' } } });
    expect(await publish(taskId)).toMatchObject({ status: 201 });
    expect(pullsOf(branch)).toHaveLength(1);
  });

  it('is a new one after the former was merged', async () => {
    const { taskId, branch, path } = await aWork('Again', 'again.ts');
    const first = await publish(taskId);
    Object.assign(pullsOf(branch)[0] ?? {}, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
    await writeFile(join(path, 'more.ts'), 'more\n');
    const { status, body } = await publish(taskId);
    expect(status).toBe(201);
    expect(body.number).not.toBe(first.body.number);
  });
});

describe('a pull request is refused', () => {
  it('without anything to propose', async () => {
    const { taskId, branch } = await aWork('Nothing');
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'PULL_REQUEST_NOTHING_TO_PUSH' } });
    expect(await remote.head(branch)).toBeUndefined();
    expect(await stack.call.get(`/api/github/pr/${taskId}`)).toMatchObject({ status: 404 });
  });

  it('from a branch of others, which stays where it is', async () => {
    await git(repositoryPath, 'push', '--quiet', remote.path, 'main:release/1.0');
    const { id } = await stack.call.createTask({ title: 'Sneak', git: { repo: 'shop', branch: 'release/1.0' } });
    const { path } = await stack.call.ok('POST', `/api/tasks/${id}/worktree`, {});
    await writeFile(join(path, 'sneak.ts'), 'x\n');
    const before = await remote.head('release/1.0');
    expect(await publish(id)).toMatchObject({ status: 409, body: { code: 'PULL_REQUEST_BRANCH_MOVED' } });
    expect(await remote.head('release/1.0')).toBe(before);
  });

  it('into its own branch', async () => {
    const { taskId, branch } = await aWork('Self', 'self.ts');
    expect(await publish(taskId, { targetBranch: branch })).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_BASE_BRANCH' },
    });
  });

  it('without a worktree, a task, or a pull request to open', async () => {
    const { id } = await stack.call.createTask({ title: 'Bare', git: { repo: 'shop' } });
    expect(await publish(id)).toMatchObject({ status: 404, body: { code: 'WORKTREE_NOT_FOUND' } });
    expect(await publish('task_20260101_absent')).toMatchObject({ status: 404 });
    expect(await stack.call.post(`/api/github/pr/${id}/open`)).toMatchObject({
      status: 404,
      body: { code: 'PULL_REQUEST_NOT_FOUND' },
    });
  });

  it.each([
    ['a branch that is an option', { targetBranch: '--upload-pack=touch' }],
    ['a branch with a space', { targetBranch: 'main extra' }],
    ['another field', { head: 'main' }],
    ['an empty title', { title: '' }],
  ])('with %s', async (_name, fields) => {
    expect(await publish('task_20260101_absent', fields)).toMatchObject({ status: 400 });
  });

  it('without a forge, a credential or a valid token, and nothing is pushed', async () => {
    const { taskId, branch } = await aWork('Later', 'later.ts');
    await connect(null);
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'FORGE_NOT_CONFIGURED' } });
    await connect({ credential: 'env:GITHUB_ABSENT' });
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'FORGE_CREDENTIAL_MISSING' } });
    await connect({ credential: 'env:GITHUB_STALE_TOKEN' });
    expect(await publish(taskId)).toMatchObject({ status: 409, body: { code: 'FORGE_UNAUTHORIZED' } });
    expect(await remote.head(branch)).toBeUndefined();
    await connect();
    expect(await publish(taskId)).toMatchObject({ status: 201 });
  });
});

describe('the review of a pull request', () => {
  let work: Work;
  const refresh = () => stack.call.post(`/api/github/pr/${work.taskId}/refresh`);
  const comments = () => stack.call.ok('GET', `/api/diff/${work.taskId}/comments`);
  const aComment = (id: number, changed: object = {}) => ({
    id,
    user: { login: 'mona' },
    path: 'review.ts',
    line: 1,
    side: 'RIGHT',
    body: `Comment ${id}`,
    commit_id: 'c'.repeat(40),
    html_url: `https://github.example/acme/shop/pull/1#discussion_r${id}`,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    ...changed,
  });

  beforeAll(async () => {
    work = await aWork('Review me', 'review.ts');
    await publish(work.taskId);
  });

  it('has what the forge reports of state, checks and reviews', async () => {
    expect(await stack.call.ok('GET', `/api/github/pr/${work.taskId}`)).not.toHaveProperty('review');
    Object.assign(pullsOf(work.branch)[0] ?? {}, { mergeable: false });
    github.state.checkRuns.push({ name: 'build', status: 'completed', conclusion: 'failure', html_url: null });
    github.state.reviews.push({
      user: { login: 'mona' },
      state: 'CHANGES_REQUESTED',
      body: 'Almost',
      submitted_at: '2026-01-01T00:00:00Z',
    });
    github.state.reviewComments.push(aComment(1), aComment(2, { line: null }), aComment(3, { path: '../outside' }));
    expect(await refresh()).toMatchObject({
      status: 200,
      body: {
        state: 'open',
        mergeable: false,
        review: {
          checks: [{ name: 'build', state: 'failure' }],
          reviews: [{ author: 'mona', state: 'changes-requested' }],
          reviewComments: { imported: 2, skipped: 1 },
        },
      },
    });
    expect(await stack.call.ok('GET', `/api/github/pr/${work.taskId}`)).toHaveProperty('review');
  });

  it('has comments on lines that are open comments of the task, once', async () => {
    await Promise.all([refresh(), refresh()]);
    const found = await comments();
    expect(found).toMatchObject([
      { path: 'review.ts', state: 'open', author: 'mona', source: { name: 'github' } },
      { path: 'review.ts', state: 'open' },
    ]);
    expect(found.map(({ body }: { body: string }) => body).sort()).toEqual(['Comment 1', 'Comment 2']);
  });

  it('does not bring back a comment that was deleted here', async () => {
    const [first] = await comments();
    await stack.call.ok('DELETE', `/api/diff/${work.taskId}/comments/${first.id}`);
    github.state.reviewComments.push(aComment(4));
    await refresh();
    expect((await comments()).map(({ id }: { id: string }) => id)).not.toContain(first.id);
    expect(await comments()).toHaveLength(2);
  });

  it('notes on the task that the pull request was merged, once', async () => {
    Object.assign(pullsOf(work.branch)[0] ?? {}, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
    expect((await refresh()).body).toMatchObject({ state: 'merged' });
    await refresh();
    const { comments: notes, status } = await stack.call.ok('GET', `/api/tasks/${work.taskId}`);
    expect(notes).toMatchObject([{ author: 'forge', text: expect.stringContaining('was merged') }]);
    expect(status).toBe('todo');
  });

  it('is refused where there is no pull request, and when the forge has it no more', async () => {
    const { id } = await stack.call.createTask({ title: 'None', git: { repo: 'shop' } });
    expect(await stack.call.post(`/api/github/pr/${id}/refresh`)).toMatchObject({ status: 404 });
    github.fail({ on: /^GET .*\/pulls\/\d+$/, answer: { status: 404, body: { message: 'Not Found' } } });
    expect(await refresh()).toMatchObject({ status: 409, body: { code: 'FORGE_NOT_FOUND' } });
  });
});

describe('the credential', () => {
  it('reaches the forge, and no history of Temporal', async () => {
    expect([...remote.authorizations].some((header) => header.startsWith('Basic '))).toBe(true);
    for await (const { workflowId } of stack.temporal.workflow.list({ query: 'WorkflowType = "pullRequest"' })) {
      const history = JSON.stringify(await stack.temporal.workflow.getHandle(workflowId).fetchHistory());
      expect(history).not.toContain(githubToken);
      expect(history).not.toContain(Buffer.from('Fix the bell').toString('base64'));
    }
  });
});
