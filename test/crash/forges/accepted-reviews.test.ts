import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { createTaskLocks } from '../../../stores/board-files/task-locks';
import { type Answer, scriptAgent } from '../../support/caller';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitBreakpoints, gitBreakpoints } from '../../support/git/git-breakpoints';
import { aRepository, git } from '../../support/git/repository';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

interface Result {
  taskId: string;
  attemptId: string;
}

describe('kill -9 of the worker while a result is accepted with a pull request', () => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let github: GithubServer;
  let remote: GitHttp;

  beforeAll(async () => {
    files = await makeTempDir('crash-accepted');
    breakpoints = await gitBreakpoints(files.path);
    remote = await gitHttp(files.path, githubToken);
    github = await startGithubServer(remote.raw);
    service = await startService(
      { PATH: breakpoints.path, BOARD_FORGE_ALLOW_PRIVATE: 'true', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
    await service.call.configureAgents([scriptAgent('as-told')]);
    await service.call.addRepository('shop', await aRepository(files.path, 'shop'));
    await service.call.ok('PATCH', '/api/config/repos/shop', {
      forge: {
        kind: 'github',
        repository: 'acme/shop',
        baseUrl: github.baseUrl,
        credential: 'env:GITHUB_CRASH_TOKEN',
      },
    });
  });
  afterAll(async () => {
    await breakpoints.clear();
    await service.close();
    await github.close();
    await files.remove();
  });

  async function aResult(title: string): Promise<Result> {
    const { id: taskId } = await service.call.createTask({
      title,
      description: JSON.stringify({ files: { 'new.txt': 'new\n' }, result: { status: 'success', summary: 'Done.' } }),
      git: { repo: 'shop' },
      executionPolicy: { review: 'required' },
    });
    await service.call.start(taskId, { agent: 'as-told' });
    return { taskId, attemptId: (await service.call.ended(taskId)).attemptId };
  }

  /** Accepts as a caller without a response does: again under the same key. */
  const accept = ({ taskId, attemptId }: Result): Promise<Answer['body']> => {
    const body = { attemptId, delivery: 'pull-request' };
    const key = { 'Idempotency-Key': taskId };
    return persistently(() => service.call.ok('POST', `/api/tasks/${taskId}/review/accept`, body, key));
  };

  const taskOf = (taskId: string) => service.call.ok('GET', `/api/tasks/${taskId}`);
  const auditOf = async (taskId: string, action: string) =>
    (await service.call.ok('GET', `/api/audit?resource=${taskId}&action=${action}`)).entries;

  async function expectOnePullRequest({ taskId }: Result): Promise<number> {
    const { status, review, git: named } = await taskOf(taskId);
    expect({ status, review }).toMatchObject({ status: 'in-progress', review: { state: 'awaiting-merge' } });
    const { number } = review.pullRequest;
    expect(named).toMatchObject({ prNumber: number });
    const { path, branch } = await service.call.ok('GET', `/api/tasks/${taskId}/worktree`);
    expect(github.state.pulls.filter(({ head }) => head.ref === branch)).toMatchObject([{ number, draft: false }]);
    expect(await remote.head(branch)).toBe(await git(path, 'rev-parse', 'HEAD'));
    expect(await git(path, 'log', '--format=%s')).not.toMatch(/(.+)\n\1/);
    const { decisions } = await service.call.ok('GET', `/api/tasks/${taskId}/review`);
    expect(decisions).toMatchObject([{ outcome: 'accepted', pullRequest: { number } }]);
    expect(await auditOf(taskId, 'review.accepted')).toHaveLength(1);
    return number;
  }

  const created = /^POST .*\/pulls$/;

  test.each([
    ['before the push', 'before'],
    ['after the push', 'after'],
  ] as const)('%s it is proposed once', async (when, point) => {
    const result = await aResult(when);
    await breakpoints.set(point, point, '*shop*push *');
    const accepting = accept(result);
    await breakpoints.reached(point);
    killPart(service, 'worker');
    await breakpoints.clear();
    await accepting;
    await expectOnePullRequest(result);
  });

  test('after the pull request was created, before the answer, it is proposed once', async () => {
    const result = await aResult('answer');
    const before = github.count(created);
    github.fail({ on: created, answer: 'held' });
    const accepting = accept(result);
    await eventually(() => expect(github.count(created)).toBe(before + 1));
    killPart(service, 'worker');
    await accepting;
    await expectOnePullRequest(result);
  });

  test('between the creation and its record on the task, and between the merge and the end of the task', async () => {
    const result = await aResult('record');
    const { taskId } = result;
    const locks = createTaskLocks(join(service.dataDir, 'tasks'), createLog({ name: 'test', level: 'silent' }));
    const before = github.count(created);
    github.fail({ on: created, answer: 'held' });
    const accepting = accept(result);
    await eventually(() => expect(github.count(created)).toBe(before + 1));
    await locks.exclusive(taskId, async () => {
      killPart(service, 'worker');
      // The next worker stores the pull request, and waits for the task.
      await persistently(async () => {
        expect(await service.call.ok('GET', `/api/github/pr/${taskId}`)).toMatchObject({ state: 'open' });
      });
      killPart(service, 'worker');
    });
    await accepting;
    const number = await expectOnePullRequest(result);

    const pull = github.state.pulls.find((one) => one.number === number)!;
    Object.assign(pull, { state: 'closed', merged_at: '2026-01-01T00:00:00Z' });
    let refreshing: Promise<Answer> | undefined;
    await locks.exclusive(taskId, async () => {
      refreshing = service.call.post(`/api/github/pr/${taskId}/refresh`);
      await persistently(async () => {
        expect(await service.call.ok('GET', `/api/github/pr/${taskId}`)).toMatchObject({ state: 'merged' });
      });
      killPart(service, 'worker');
    });
    await refreshing;
    const done = await persistently(async () => {
      const task = await taskOf(taskId);
      expect(task).toMatchObject({ status: 'done', review: { state: 'accepted', pullRequest: { number } } });
      expect(await auditOf(taskId, 'review.merged')).toHaveLength(1);
      return task;
    });
    expect(done.comments.filter(({ text }: { text: string }) => text.includes('was merged'))).toHaveLength(1);
  });
});
