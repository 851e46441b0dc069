import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { pullRequestId } from '../../../workflows/pull-request/messages';
import { boardQueue } from '../../../workflows/queues';
import { reconcileId } from '../../../workflows/reconcile/messages';
import { reviewAcceptanceId } from '../../../workflows/review-acceptance/messages';
import { type Answer, scriptAgent } from '../../support/caller';
import { gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRemoteRepository, type RemoteRepository } from '../../support/git/remote-repository';
import { git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let github: GithubServer;
let shop: RemoteRepository;

interface Result {
  taskId: string;
  attemptId: string;
}

describe('an acceptance whose workflow was lost', () => {
  beforeAll(async () => {
    process.env.GITHUB_LOST_TOKEN = githubToken;
    stack = await startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true' });
    github = await startGithubServer((await gitHttp(stack.dir, githubToken)).raw);
    shop = await aRemoteRepository(stack.dir);
    await stack.call.ok('POST', '/api/config/repos', { name: 'shop', path: shop.path, remote: 'origin' });
    await stack.call.ok('PATCH', '/api/config/repos/shop', {
      forge: { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl, credential: 'env:GITHUB_LOST_TOKEN' },
    });
    await stack.call.configureAgents([scriptAgent('as-told')]);
  });
  afterAll(async () => {
    delete process.env.GITHUB_LOST_TOKEN;
    await stack.close();
    await github.close();
  });

  const workflow = (id: string) => stack.temporal.workflow.getHandle(id);
  const terminate = (id: string) => workflow(id).terminate('by the test');
  const taskOf = (taskId: string) => stack.call.ok('GET', `/api/tasks/${taskId}`);
  const reviewOf = (taskId: string) => stack.call.ok('GET', `/api/tasks/${taskId}/review`);
  const accept = ({ taskId, attemptId }: Result, delivery: string) =>
    stack.call.post(`/api/tasks/${taskId}/review/accept`, { attemptId, delivery });
  /** Runs the reconciliation, and waits for its end. */
  async function reconcile(): Promise<void> {
    const id = `${reconcileId}/test-${Date.now()}`;
    await stack.temporal.workflow.execute('reconcile', { workflowId: id, taskQueue: boardQueue });
  }

  async function aResult(file: string): Promise<Result> {
    const { id: taskId } = await stack.call.createTask({
      title: file,
      description: JSON.stringify({ files: { [file]: 'new\n' }, result: { status: 'success', summary: 'Done.' } }),
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    await stack.call.start(taskId, { agent: 'as-told' });
    const { attemptId, attempt } = await stack.call.ended(taskId);
    expect(attempt.completion).toMatchObject({ status: 'success' });
    expect((await taskOf(taskId)).review).toMatchObject({ state: 'pending', attemptId });
    return { taskId, attemptId };
  }

  /** A result that was accepted with a pull request, which the forge has. */
  async function anAwaited(file: string) {
    const result = await aResult(file);
    const { status, body } = await accept(result, 'pull-request');
    expect({ status, body }).toMatchObject({ status: 200, body: { review: { state: 'awaiting-merge' } } });
    return { ...result, pull: github.state.pulls.find(({ number }) => number === body.review.pullRequest.number)! };
  }

  /** Accepts with a pull request whose creation the forge holds until `release`. */
  async function held(result: Result): Promise<Promise<Answer>[]> {
    const created = /^POST .*\/pulls$/;
    const before = github.count(created);
    github.fail({ on: created, answer: 'held' });
    const accepting = accept(result, 'pull-request');
    await eventually(() => expect(github.count(created)).toBe(before + 1));
    return [accepting];
  }

  /** The merge of a result, which the remote holds until `release`. */
  async function heldMerge(result: Result) {
    const [hook, reached, go] = ['hooks/pre-receive', 'reached', 'go'].map((name) => join(shop.remote, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(hook, `#!/bin/sh\ntouch '${reached}'\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\n`);
    await chmod(hook, 0o755);
    const accepting = accept(result, 'merge');
    await eventually(() => expect(existsSync(reached)).toBe(true));
    const release = async () => {
      await writeFile(go, '');
      await eventually(async () => {
        const { history } = await stack.call.ok('GET', `/api/tasks/${result.taskId}/worktree`);
        expect(history).toContainEqual(expect.objectContaining({ kind: 'merge', result: 'done' }));
      });
      await Promise.all([hook, reached, go].map((path) => rm(path, { force: true })));
    };
    return { release, accepting };
  }

  it('is concluded when it was terminated during its merge', async () => {
    const result = await aResult('merged.txt');
    const { release, accepting } = await heldMerge(result);
    await terminate(reviewAcceptanceId(result.attemptId));
    expect(await accepting).toMatchObject({ status: 503, body: { code: 'REVIEW_ACCEPTING' } });
    await reconcile();
    expect(await reviewOf(result.taskId)).toMatchObject({ review: { state: 'accepting' }, decisions: [] });
    await release();
    await eventually(async () => {
      await reconcile();
      expect(await taskOf(result.taskId)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
    });
    const mergedSha = await git(shop.remote, 'rev-parse', 'main');
    expect((await reviewOf(result.taskId)).decisions).toMatchObject([{ outcome: 'accepted', mergedSha }]);
    const { revision } = await taskOf(result.taskId);
    await reconcile();
    expect(await taskOf(result.taskId)).toMatchObject({ revision });
  });

  it('is returned when it was terminated with its pull request, and can be accepted again', async () => {
    const result = await aResult('returned.txt');
    const [accepting] = await held(result);
    await terminate(reviewAcceptanceId(result.attemptId));
    await terminate(pullRequestId(result.taskId));
    github.release();
    expect(await accepting).toMatchObject({ status: 503 });
    await eventually(async () => {
      await reconcile();
      expect(await reviewOf(result.taskId)).toMatchObject({
        review: { state: 'pending', attemptId: result.attemptId, problem: { code: 'REVIEW_INTERRUPTED' } },
        decisions: [{ outcome: 'returned' }],
      });
    });
    expect(await taskOf(result.taskId)).toMatchObject({ status: 'in-progress' });
    const { status, body } = await accept(result, 'pull-request');
    expect({ status, body }).toMatchObject({ status: 200, body: { review: { state: 'awaiting-merge' } } });
    const { branch } = await stack.call.ok('GET', `/api/tasks/${result.taskId}/worktree`);
    expect(github.state.pulls.filter(({ head }) => head.ref === branch)).toHaveLength(1);
  });

  it('is started again, as the same decision, when Temporal does not know it', async () => {
    const result = await aResult('forgotten.txt');
    const [accepting] = await held(result);
    const workflowId = reviewAcceptanceId(result.attemptId);
    await stack.temporal.workflowService.deleteWorkflowExecution({
      namespace: stack.temporal.options.namespace,
      workflowExecution: { workflowId },
    });
    await eventually(() => expect(workflow(workflowId).describe()).rejects.toThrow(/not found/i));
    const { decisionId } = (await taskOf(result.taskId)).review;
    await reconcile();
    github.release();
    await workflow(workflowId).result();
    expect((await accepting)?.status).toBe(503);
    expect(await reviewOf(result.taskId)).toMatchObject({
      review: { state: 'awaiting-merge', decisionId },
      decisions: [{ id: decisionId, outcome: 'accepted' }],
    });
  });

  it('completes the task when the merge of its pull request was read and its record was lost', async () => {
    const result = await anAwaited('read.txt');
    Object.assign(result.pull, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
    await stack.call.ok('PATCH', `/api/tasks/${result.taskId}`, { status: 'todo' });
    await stack.call.ok('POST', `/api/github/pr/${result.taskId}/refresh`);
    await stack.call.ok('PATCH', `/api/tasks/${result.taskId}`, { status: 'in-progress' });
    await eventually(async () => {
      await reconcile();
      expect(await taskOf(result.taskId)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
    });
  });

  it('completes a task that was deleted or unreadable meanwhile once it is back', async () => {
    const [deleted, broken] = [await anAwaited('deleted.txt'), await anAwaited('broken.txt')];
    await stack.call.ok('DELETE', `/api/tasks/${deleted.taskId}`);
    const active = join(stack.dir, 'data', 'tasks', 'active');
    const file = join(
      active,
      (await readdir(active)).find((name) => name.includes(broken.taskId))!,
    );
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('status: in-progress', 'status: somewhere'));
    for (const { taskId, pull } of [deleted, broken]) {
      Object.assign(pull, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
      expect(await stack.call.post(`/api/github/pr/${taskId}/refresh`)).toMatchObject({ status: 200 });
    }
    await reconcile();
    expect(await stack.call.ok('POST', `/api/tasks/${deleted.taskId}/restore`)).toMatchObject({
      status: 'in-progress',
      review: { state: 'awaiting-merge' },
    });
    await writeFile(file, text);
    for (const { taskId } of [deleted, broken]) {
      await eventually(async () => {
        await reconcile();
        expect(await taskOf(taskId)).toMatchObject({ status: 'done', review: { state: 'accepted' } });
      });
    }
  });
});
