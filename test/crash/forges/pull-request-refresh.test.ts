import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { gitHttp } from '../../support/forges/git-http';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const pulls = 7;
/** Of the requests that read the comments of reviewers, those that kill the worker before they are answered. */
const killedReads = [1, 4, 8];

describe('kill -9 of the worker while pull requests are read without a call', () => {
  let service: Service;
  let files: TempDir;
  let github: GithubServer;
  let reads = 0;
  let kills = 0;

  beforeAll(async () => {
    files = await makeTempDir('crash-refresh');
    const remote = await gitHttp(files.path, githubToken);
    github = await startGithubServer((request, response) => {
      const isRead = /^GET .*\/pulls\/\d+\/comments/.test(`${request.method ?? ''} ${request.url ?? ''}`);
      reads += isRead ? 1 : 0;
      if (isRead && killedReads.includes(reads)) {
        killPart(service, 'worker');
        kills += 1;
      }
      return remote.raw(request, response);
    });
    service = await startService(
      { BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '100', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
    await service.call.addRepository('shop', await aRepository(files.path, 'shop'));
    const forge = { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl };
    await service.call.ok('PATCH', '/api/config/repos/shop', {
      forge: { ...forge, credential: 'env:GITHUB_CRASH_TOKEN' },
    });
  });
  afterAll(async () => {
    await service.close();
    await github.close();
    await files.remove();
  });

  it('has each read, its comments brought in and its merge noted once', async () => {
    const taskIds: string[] = [];
    for (let number = 1; number <= pulls; number += 1) {
      const { id } = await service.call.createTask({ title: `Work ${number}`, git: { repo: 'shop' } });
      const { path } = await service.call.ok('POST', `/api/tasks/${id}/worktree`, {});
      await writeFile(join(path, 'work.ts'), `${number}\n`);
      await service.call.ok('POST', '/api/github/pr', { taskId: id });
      taskIds.push(id);
    }
    const at = '2026-01-01T00:00:00Z';
    for (const pull of github.state.pulls) {
      Object.assign(pull, { state: 'closed', merged_at: at });
    }
    for (const id of [1, 2]) {
      github.state.reviewComments.push({
        ...{ id, user: { login: 'mona' }, path: 'work.ts', line: 1, side: 'RIGHT', body: `Comment ${id}` },
        ...{ commit_id: 'c'.repeat(40), created_at: at, updated_at: at },
      });
    }
    await service.call.ok('PUT', '/api/github/sync/config', {
      ...{ enabled: true, repo: 'shop', syncMode: 'none', pollIntervalMs: 10_000 },
    });
    await eventually(async () => {
      for (const taskId of taskIds) {
        expect(await service.call.ok('GET', `/api/github/pr/${taskId}`)).toMatchObject({ state: 'merged' });
        const { comments = [] } = await service.call.ok('GET', `/api/tasks/${taskId}`);
        expect(comments).toHaveLength(1);
      }
      const status = await service.call.ok('GET', '/api/github/sync/status');
      expect(status).toMatchObject({ state: 'synced', failure: null });
    });
    for (const taskId of taskIds) {
      expect(await service.call.ok('GET', `/api/diff/${taskId}/comments`)).toHaveLength(2);
    }
    expect(kills).toBe(killedReads.length);
  });
});
