import { Caller, scriptAgent } from '../../support/caller';
import { changeFeatures } from '../../support/change-features';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRemoteRepository, type RemoteRepository } from '../../support/git/remote-repository';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

const adminKey = 'the-key-of-the-administrator-of-the-test';

let stack: Stack;
let agent: Caller;
let github: GithubServer;
let remote: GitHttp;
let shop: RemoteRepository;

beforeAll(async () => {
  process.env.GITHUB_ACCEPTED_TOKEN = githubToken;
  stack = await startStack({
    BOARD_FORGE_ALLOW_PRIVATE: 'true',
    BOARD_AUTH_ENABLED: 'true',
    BOARD_ADMIN_KEY: adminKey,
    BOARD_API_KEYS: 'bot:the-key-of-an-agent-of-the-test:agent',
  });
  stack.call = new Caller(stack.url, { 'x-api-key': adminKey });
  agent = new Caller(stack.url, { 'x-api-key': 'the-key-of-an-agent-of-the-test' });
  remote = await gitHttp(stack.dir, githubToken);
  github = await startGithubServer(remote.raw);
  shop = await aRemoteRepository(stack.dir);
  const forge = {
    kind: 'github',
    repository: 'acme/shop',
    baseUrl: github.baseUrl,
    credential: 'env:GITHUB_ACCEPTED_TOKEN',
  };
  await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
  await stack.call.ok('PATCH', '/api/config/repos/shop', { forge });
  await stack.call.addRepository('lone', await aRepository(stack.dir, 'lone'));
  await stack.call.configureAgents([scriptAgent('as-told')]);
});
afterAll(async () => {
  delete process.env.GITHUB_ACCEPTED_TOKEN;
  await stack.close();
  await github.close();
});

const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/review${rest}`;
const taskOf = (taskId: string) => stack.call.ok('GET', `/api/tasks/${taskId}`);
const reviewOf = (taskId: string) => stack.call.ok('GET', url(taskId));
const features = (fields: object) => changeFeatures(stack.call, fields);
const refresh = (taskId: string) => stack.call.ok('POST', `/api/github/pr/${taskId}/refresh`);
const pullOf = (number: number) => github.state.pulls.find((pull) => pull.number === number)!;
const merge = (number: number) => Object.assign(pullOf(number), { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
const auditOf = async (taskId: string, action: string) =>
  (await stack.call.ok('GET', `/api/audit?resource=${taskId}&action=${action}`)).entries;

interface Result {
  taskId: string;
  attemptId: string;
}

/** A task whose run has left a new file, uncommitted, and waits for its review. */
async function aResult(file: string | undefined, fields: object = {}): Promise<Result> {
  const files = file === undefined ? {} : { [file]: `${file}\n` };
  const { id: taskId } = await stack.call.createTask({
    title: `Told ${file}`,
    description: JSON.stringify({ files, result: { status: 'success', summary: 'Done.' } }),
    git: { repo: 'shop' },
    executionPolicy: { review: 'required' },
    ...fields,
  });
  await stack.call.start(taskId, { agent: 'as-told' });
  const { attempt } = await stack.call.ended(taskId);
  return { taskId, attemptId: attempt.id };
}

const accept = ({ taskId, attemptId }: Result, body: object = { delivery: 'pull-request' }) =>
  stack.call.post(url(taskId, '/accept'), { attemptId, ...body });

/** A result that was accepted, with the number of its pull request. */
async function anAwaited(file: string): Promise<Result & { number: number }> {
  const result = await aResult(file);
  const { body } = await accept(result);
  return { ...result, number: body.review.pullRequest.number };
}

describe('an acceptance with a pull request', () => {
  it('commits, pushes and proposes the result; the task is done when that is merged, once', async () => {
    const before = await git(shop.remote, 'rev-parse', 'main');
    const result = await aResult('proposed.txt');
    const { taskId } = result;
    expect(await accept(result)).toMatchObject({
      status: 200,
      body: {
        review: {
          state: 'awaiting-merge',
          decision: 'approved',
          delivery: 'pull-request',
          decidedBy: 'service:admin',
          pullRequest: { number: expect.any(Number), url: expect.stringContaining('/pull/'), baseBranch: 'main' },
        },
        decisions: [{ outcome: 'accepted', delivery: 'pull-request', pullRequest: { baseBranch: 'main' } }],
      },
    });
    const task = await taskOf(taskId);
    const { number } = task.review.pullRequest;
    expect(task).toMatchObject({ status: 'in-progress', git: { prNumber: number } });
    const pull = pullOf(number);
    expect(await git(remote.path, 'show', `${pull.head.ref}:proposed.txt`)).toBe('proposed.txt');
    expect(await git(shop.remote, 'rev-parse', 'main')).toBe(before);

    for (const caller of [stack.call, agent]) {
      expect(await caller.send('PATCH', `/api/tasks/${taskId}`, { status: 'done' })).toMatchObject({
        status: 409,
        body: { code: 'REVIEW_AWAITING_MERGE', details: { next: { path: `/api/github/pr/${taskId}/refresh` } } },
      });
    }
    expect(await accept(result)).toMatchObject({ status: 409, body: { code: 'REVIEW_AWAITING_MERGE' } });
    const waiting = await stack.call.ok('GET', '/api/tasks?review=awaiting-merge');
    expect(waiting.tasks).toMatchObject([{ id: taskId }]);

    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ status: 'in-progress', review: { state: 'awaiting-merge' } });
    merge(number);
    await Promise.all([refresh(taskId), refresh(taskId)]);
    const done = await taskOf(taskId);
    expect(done).toMatchObject({ status: 'done', review: { state: 'accepted', pullRequest: { number } } });
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ revision: done.revision });
    expect(await auditOf(taskId, 'review.accepted')).toHaveLength(1);
    expect(await auditOf(taskId, 'review.merged')).toMatchObject([
      { actor: 'service:admin', details: { decisionId: done.review.decisionId } },
    ]);
    expect((await reviewOf(taskId)).decisions).toHaveLength(1);
  });

  it('opens the review again when the pull request is closed without a merge', async () => {
    const { taskId, attemptId, number } = await anAwaited('closed.txt');
    Object.assign(pullOf(number), { state: 'closed' });
    await refresh(taskId);
    const closed = await reviewOf(taskId);
    expect(closed).toMatchObject({
      review: { state: 'pending', attemptId, problem: { code: 'REVIEW_PULL_REQUEST_CLOSED' } },
    });
    expect(closed.decisions.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual([
      'accepted',
      'returned',
    ]);
    expect(await taskOf(taskId)).toMatchObject({ status: 'in-progress' });
    await refresh(taskId);
    expect(await reviewOf(taskId)).toEqual(closed);

    const { body } = await accept({ taskId, attemptId });
    expect(body.review).toMatchObject({ state: 'awaiting-merge', pullRequest: { number: expect.any(Number) } });
    expect(body.review).not.toHaveProperty('problem');
    expect(body.review.pullRequest.number).not.toBe(number);
  });

  it('is sent back to the agent while its pull request is open, which the next acceptance updates', async () => {
    const { taskId, attemptId, number } = await anAwaited('back.txt');
    await stack.call.ok('POST', url(taskId, '/send-back'), { attemptId, message: 'Say why.' });
    const { attempt } = await stack.call.ended(taskId);
    expect(await reviewOf(taskId)).toMatchObject({ review: { state: 'pending', attemptId: attempt.id } });
    merge(number);
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ status: 'in-progress', review: { state: 'pending' } });
    Object.assign(pullOf(number), { state: 'open', merged_at: null });
    const { body } = await accept({ taskId, attemptId: attempt.id });
    expect(body.review).toMatchObject({ state: 'awaiting-merge', pullRequest: { number } });
  });

  it('can be completed without the merge, which then changes nothing', async () => {
    const { taskId, attemptId, number } = await anAwaited('otherwise.txt');
    expect(await accept({ taskId, attemptId }, { delivery: 'none' })).toMatchObject({
      status: 200,
      body: { review: { state: 'accepted', delivery: 'none' } },
    });
    const done = await taskOf(taskId);
    expect(done).toMatchObject({ status: 'done' });
    merge(number);
    await refresh(taskId);
    expect((await taskOf(taskId)).review).toEqual(done.review);
    expect(await auditOf(taskId, 'review.merged')).toEqual([]);
  });

  it('updates the pull request there is, and marks a draft as ready', async () => {
    const result = await aResult('draft.txt');
    const { body: draft } = await stack.call.post('/api/github/pr', { taskId: result.taskId, draft: true });
    const { body } = await accept(result);
    expect(body.review.pullRequest.number).toBe(draft.number);
    expect(pullOf(draft.number).draft).toBe(false);
  });

  it('is one pull request for acceptances at once', async () => {
    const result = await aResult('once.txt');
    const key = { 'Idempotency-Key': `accept-${result.taskId}` };
    const body = { attemptId: result.attemptId, delivery: 'pull-request' };
    const calls = [key, {}, {}].map((headers) => stack.call.post(url(result.taskId, '/accept'), body, headers));
    const codes = (await Promise.all(calls)).map((answer) => (answer.status === 200 ? 'accepted' : answer.body.code));
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect((await reviewOf(result.taskId)).decisions).toHaveLength(1);
    const { review } = await taskOf(result.taskId);
    const { ref } = pullOf(review.pullRequest.number).head;
    expect(github.state.pulls.filter(({ head }) => head.ref === ref)).toHaveLength(1);
  });
});

describe('the merge of an accepted pull request', () => {
  it('completes no task whose ceremonies are missing, and does when they were held', async () => {
    const { taskId, number } = await anAwaited('ceremony.txt');
    await features({ enforcement: { ceremonyDesignReview: 'block' } });
    // The worker of this run has read the setting.
    await aResult('meanwhile.txt');
    try {
      merge(number);
      await refresh(taskId);
      expect(await taskOf(taskId)).toMatchObject({
        status: 'in-progress',
        review: { state: 'awaiting-merge', problem: { code: 'CEREMONY_REQUIRED' } },
      });
      const [ceremony] = await stack.call.ok('GET', `/api/ceremonies?taskId=${taskId}&status=pending`);
      await stack.call.ok('POST', `/api/ceremonies/${ceremony.id}/complete`, {
        artifacts: [{ kind: 'decision-packet', body: 'As it is.' }],
      });
      await refresh(taskId);
      const { status, review } = await taskOf(taskId);
      expect({ status, review }).toMatchObject({ status: 'done', review: { state: 'accepted' } });
      expect(review).not.toHaveProperty('problem');
    } finally {
      await features({ enforcement: { ceremonyDesignReview: 'off' } });
    }
  });

  it('leaves a status that the task was set to since', async () => {
    const { taskId, number } = await anAwaited('moved.txt');
    await stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'todo' });
    merge(number);
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ status: 'todo', review: { problem: { code: 'REVIEW_TASK_MOVED' } } });
    await stack.call.ok('PATCH', `/api/tasks/${taskId}`, { status: 'in-progress' });
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
  });

  it('counts only into the branch that was accepted', async () => {
    const result = await anAwaited('retargeted.txt');
    const { taskId, number } = result;
    Object.assign(merge(number), { base: { ref: 'elsewhere' } });
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({
      status: 'in-progress',
      review: { state: 'awaiting-merge', problem: { code: 'REVIEW_OTHER_BASE' } },
    });
    const again = await accept(result);
    expect(again).toMatchObject({ status: 200, body: { review: { state: 'awaiting-merge' } } });
    expect(again.body.review).not.toHaveProperty('problem');
    merge(again.body.review.pullRequest.number);
    await refresh(taskId);
    expect(await taskOf(taskId)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
  });

  it('has the base of the worktree, whatever base was requested before', async () => {
    const result = await aResult('based.txt');
    const { number, baseBranch } = await agent.ok('POST', '/api/github/pr', {
      taskId: result.taskId,
      targetBranch: 'elsewhere',
    });
    expect(baseBranch).toBe('elsewhere');
    expect((await accept(result)).body.review).toMatchObject({ pullRequest: { number, baseBranch: 'main' } });
    expect(pullOf(number).base.ref).toBe('main');
  });
});

describe('an acceptance with a pull request is refused', () => {
  it('without a forge, and leaves the review open with what helps', async () => {
    const result = await aResult('lone.txt', { git: { repo: 'lone' } });
    expect(await accept(result)).toMatchObject({
      status: 409,
      body: { code: 'FORGE_NOT_CONFIGURED', details: { next: { path: '/api/config/repos/lone' } } },
    });
    expect(await reviewOf(result.taskId)).toMatchObject({
      review: { state: 'pending', problem: { code: 'FORGE_NOT_CONFIGURED' } },
      decisions: [{ outcome: 'returned' }],
    });
    expect(await accept(result, { delivery: 'none' })).toMatchObject({ status: 200 });
  });

  it('with nothing to propose', async () => {
    const result = await aResult(undefined);
    expect(await accept(result)).toMatchObject({
      status: 409,
      body: { code: 'PULL_REQUEST_NOTHING_TO_PUSH', details: { next: { path: url(result.taskId, '/accept') } } },
    });
    expect(await reviewOf(result.taskId)).toMatchObject({ review: { state: 'pending' } });
  });

  it('at another commit than the inspected one, and without a worktree', async () => {
    const result = await aResult('head.txt');
    const expectedHead = '0'.repeat(40);
    expect(await accept(result, { delivery: 'pull-request', expectedHead })).toMatchObject({
      status: 409,
      body: { code: 'WORKTREE_HEAD_MOVED' },
    });
    expect(await accept(result, { delivery: 'none', expectedHead })).toMatchObject({ status: 400 });
    await stack.call.ok('DELETE', `/api/tasks/${result.taskId}/worktree?force=true&reason=test`);
    expect(await accept(result)).toMatchObject({
      status: 409,
      body: { code: 'REVIEW_WITHOUT_WORKTREE', details: { next: { path: url(result.taskId, '/accept') } } },
    });
  });

  it('before its ceremonies were held', async () => {
    await features({ enforcement: { ceremonyDesignReview: 'block' } });
    try {
      const result = await aResult('early.txt');
      const before = github.state.pulls.length;
      expect(await accept(result)).toMatchObject({
        status: 409,
        body: { code: 'CEREMONY_REQUIRED', details: { next: { path: '/api/ceremonies' } } },
      });
      expect(github.state.pulls).toHaveLength(before);
      expect(await reviewOf(result.taskId)).toMatchObject({ review: { state: 'pending' }, decisions: [] });
    } finally {
      await features({ enforcement: { ceremonyDesignReview: 'off' } });
    }
  });
});

describe('the delivery of an acceptance that names none', () => {
  it('is that of the task, then that of the settings', async () => {
    await features({ agents: { reviewDelivery: 'pull-request' } });
    try {
      const proposed = await aResult('settings.txt');
      expect(await reviewOf(proposed.taskId)).toMatchObject({ delivery: 'pull-request' });
      expect((await accept(proposed, {})).body.review).toMatchObject({ state: 'awaiting-merge' });
      const policy = { executionPolicy: { review: 'required', reviewDelivery: 'merge' } };
      const merged = await aResult('policy.txt', policy);
      expect(await reviewOf(merged.taskId)).toMatchObject({ delivery: 'merge' });
      expect((await accept(merged, {})).body.review).toMatchObject({ state: 'accepted', delivery: 'merge' });
    } finally {
      await features({ agents: { reviewDelivery: 'merge' } });
    }
  });

  it('is changed on a task by those who accept', async () => {
    const { id } = await stack.call.createTask({ executionPolicy: { reviewDelivery: 'pull-request' }, title: 'Kept' });
    for (const executionPolicy of [null, { reviewDelivery: 'merge' }]) {
      expect(await agent.send('PATCH', `/api/tasks/${id}`, { executionPolicy })).toMatchObject({ status: 403 });
    }
    expect(
      await agent.send('PATCH', `/api/tasks/${id}`, {
        executionPolicy: { reviewDelivery: 'pull-request', commitPolicy: 'required' },
      }),
    ).toMatchObject({ status: 200 });
    expect(await stack.call.send('PATCH', `/api/tasks/${id}`, { executionPolicy: null })).toMatchObject({
      status: 200,
    });
  });
});
