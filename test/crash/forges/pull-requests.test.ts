import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { ForgeServer } from '../../support/forges/forge-server';
import { type GitHttp, gitHttp } from '../../support/forges/git-http';
import { githubToken, startGithubServer } from '../../support/forges/github-server';
import { gitlabToken, startGitlabServer } from '../../support/forges/gitlab-server';
import { type GitBreakpoints, gitBreakpoints } from '../../support/git/git-breakpoints';
import { aRepository, git } from '../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

interface Point {
  when: string;
  /** The git command that it is killed at, or the request of the forge after which it is. */
  at: { git: 'before' | 'after'; command: string } | 'created';
}

const points: Point[] = [
  { when: 'before the push', at: { git: 'before', command: '*shop*push *' } },
  { when: 'between the push and the pull request', at: { git: 'after', command: '*shop*push *' } },
  { when: 'after the pull request was created, before its answer', at: 'created' },
];

interface Family {
  token: string;
  user: string;
  /** The request that creates a pull request. */
  creates: RegExp;
  start: (raw: GitHttp['raw']) => Promise<ForgeServer & { baseUrl: string; numbersOf(branch: string): number[] }>;
}

const families: Record<'github' | 'gitlab', Family> = {
  github: {
    token: githubToken,
    user: 'x-access-token',
    creates: /^POST .*\/pulls$/,
    start: async (raw) => {
      const server = await startGithubServer(raw);
      const numbersOf = (branch: string) =>
        server.state.pulls.filter(({ head }) => head.ref === branch).map(({ number }) => number);
      return Object.assign(server, { numbersOf });
    },
  },
  gitlab: {
    token: gitlabToken,
    user: 'oauth2',
    creates: /^POST .*\/merge_requests$/,
    start: async (raw) => {
      const server = await startGitlabServer(raw);
      const numbersOf = (branch: string) =>
        server.state.mergeRequests
          .filter(({ source_branch: source }) => source === branch)
          .map(({ iid }) => Number(iid));
      return Object.assign(server, { numbersOf });
    },
  },
};

describe.each(['github', 'gitlab'] as const)('kill -9 of the worker that makes a pull request at %s', (kind) => {
  const { token, user, creates, start } = families[kind];
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let forge: Awaited<ReturnType<Family['start']>>;
  let remote: GitHttp;

  beforeAll(async () => {
    files = await makeTempDir('crash-pull-requests');
    breakpoints = await gitBreakpoints(files.path);
    remote = await gitHttp(files.path, token, user);
    forge = await start(remote.raw);
    service = await startService(
      { PATH: breakpoints.path, BOARD_FORGE_ALLOW_PRIVATE: 'true', FORGE_CRASH_TOKEN: token },
      { restart: soonAgain },
    );
    await service.call.addRepository('shop', await aRepository(files.path, 'shop'));
    await service.call.ok('PATCH', '/api/config/repos/shop', {
      forge: {
        kind,
        repository: 'acme/shop',
        baseUrl: forge.baseUrl,
        credential: 'env:FORGE_CRASH_TOKEN',
      },
    });
  });
  afterAll(async () => {
    await service.close();
    await forge.close();
    await files.remove();
  });

  test.each(points)('$when leaves one pull request', async ({ when, at }) => {
    const { id: taskId } = await service.call.createTask({ title: when, git: { repo: 'shop' } });
    const { path, branch } = await service.call.ok('POST', `/api/tasks/${taskId}/worktree`, {});
    await writeFile(join(path, 'work.ts'), 'work\n');
    const before = forge.count(creates);
    if (at !== 'created') {
      await breakpoints.set(at.git, at.git, at.command);
    } else {
      forge.fail({ on: creates, answer: 'held' });
    }
    const requested = service.call.post('/api/github/pr', { taskId });
    await (at === 'created'
      ? eventually(() => expect(forge.count(creates)).toBe(before + 1))
      : breakpoints.reached(at.git));
    killPart(service, 'worker');
    await breakpoints.clear();
    const { status } = await requested;
    expect([201, 503]).toContain(status);

    const pull = await eventually(async () => {
      const again = await service.call.post('/api/github/pr', { taskId });
      expect(again.status).toBe(201);
      return again.body;
    });
    expect(forge.numbersOf(branch)).toEqual([pull.number]);
    expect(await remote.head(branch)).toBe(await git(path, 'rev-parse', 'HEAD'));
    expect((await service.call.ok('GET', `/api/tasks/${taskId}`)).git).toMatchObject({ prNumber: pull.number });
  });
});
