import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { type GitBreakpoints, gitBreakpoints } from '../../support/git/git-breakpoints';
import { aRepository, git } from '../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

interface Point {
  when: string;
  /** The git command that it is killed at, or the request of the forge after which it is. */
  at: { git: 'before' | 'after'; command: string } | { forge: RegExp };
}

const points: Point[] = [
  { when: 'before the push', at: { git: 'before', command: '*shop*push *' } },
  { when: 'between the push and the pull request', at: { git: 'after', command: '*shop*push *' } },
  { when: 'after the pull request was created, before its answer', at: { forge: /^POST .*\/pulls$/ } },
];

describe('kill -9 of the worker that makes a pull request', () => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let github: GithubServer;
  let remote: GitHttp;

  beforeAll(async () => {
    files = await makeTempDir('crash-pull-requests');
    breakpoints = await gitBreakpoints(files.path);
    remote = await gitHttp(files.path, githubToken);
    github = await startGithubServer(remote.raw);
    service = await startService(
      { PATH: breakpoints.path, BOARD_FORGE_ALLOW_PRIVATE: 'true', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
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
    await service.close();
    await github.close();
    await files.remove();
  });

  test.each(points)('$when leaves one pull request', async ({ when, at }) => {
    const { id: taskId } = await service.call.createTask({ title: when, git: { repo: 'shop' } });
    const { path, branch } = await service.call.ok('POST', `/api/tasks/${taskId}/worktree`, {});
    await writeFile(join(path, 'work.ts'), 'work\n');
    const before = github.count(/^POST .*\/pulls$/);
    if ('git' in at) {
      await breakpoints.set(at.git, at.git, at.command);
    } else {
      github.fail({ on: at.forge, answer: 'held' });
    }
    const requested = service.call.post('/api/github/pr', { taskId });
    await ('git' in at
      ? breakpoints.reached(at.git)
      : eventually(() => expect(github.count(at.forge)).toBe(before + 1)));
    killPart(service, 'worker');
    await breakpoints.clear();
    const { status } = await requested;
    expect([201, 503]).toContain(status);

    const pull = await eventually(async () => {
      const again = await service.call.post('/api/github/pr', { taskId });
      expect(again.status).toBe(201);
      return again.body;
    });
    expect(github.state.pulls.filter(({ head }) => head.ref === branch)).toMatchObject([{ number: pull.number }]);
    expect(await remote.head(branch)).toBe(await git(path, 'rev-parse', 'HEAD'));
    expect((await service.call.ok('GET', `/api/tasks/${taskId}`)).git).toMatchObject({ prNumber: pull.number });
  });
});
