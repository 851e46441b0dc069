import { eventually } from '../../../platform/testing/eventually';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const written = 8;
/** Of the requests that create a comment, those that kill the worker; the second one of them is never done. */
const killedCreates = [1, 4, 7];

describe('kill -9 of the worker that synchronises comments', () => {
  let service: Service;
  let github: GithubServer;
  let creates = 0;
  let kills = 0;

  beforeAll(async () => {
    github = await startGithubServer(({ method = '', url = '', socket }) => {
      const isCreate = /^POST .*\/issues\/\d+\/comments$/.test(`${method} ${url}`);
      creates += isCreate ? 1 : 0;
      if (!isCreate || !killedCreates.includes(creates)) {
        return false;
      }
      killPart(service, 'worker');
      kills += 1;
      if (creates === killedCreates[1]) {
        socket.destroy();
        return true;
      }
      return false;
    });
    github.state.clockMs = Date.now() - 3_600_000;
    service = await startService(
      { BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '100', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
    await service.call.addRepository('shop', await aRepository(service.dir));
    const forge = { kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl };
    await service.call.ok('PATCH', '/api/config/repos/shop', {
      forge: { ...forge, credential: 'env:GITHUB_CRASH_TOKEN' },
    });
  });
  afterAll(() => Promise.all([service.close(), github.close()]));

  it('has each at both sides once, whether or not the forge had created it', async () => {
    const number = github.openIssue();
    for (let at = 1; at <= written; at += 1) {
      github.comment(number, `Theirs ${at}`);
    }
    await service.call.ok('PUT', '/api/github/sync/config', {
      ...{ enabled: true, repo: 'shop', syncMode: 'bidirectional', pollIntervalMs: 10_000, comments: true },
    });
    const taskId = await eventually(async () => {
      const { mappings } = await service.call.ok('GET', '/api/github/sync/mappings');
      expect(mappings).toMatchObject([{ state: 'linked' }]);
      return mappings[0].taskId as string;
    });
    for (let at = 1; at <= written; at += 1) {
      await service.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: `Ours ${at}` });
    }
    await eventually(async () => {
      expect(github.state.comments.get(number)).toHaveLength(2 * written);
      const { state, errors } = await service.call.ok('GET', '/api/github/sync/status');
      expect({ state, errors }).toEqual({ state: 'synced', errors: 0 });
    });
    await service.call.ok('POST', '/api/github/sync');
    const texts = (await service.call.ok('GET', `/api/tasks/${taskId}/comments`)).map(
      ({ text }: { text: string }) => text,
    );
    const expected = Array.from({ length: written }, (_one, index) => [`Ours ${index + 1}`, `Theirs ${index + 1}`]);
    expect(texts.sort()).toEqual(expected.flat().sort());
    const bodies = (github.state.comments.get(number) ?? []).map(({ body }) => /(?:Ours|Theirs) \d/.exec(body)?.[0]);
    expect(bodies.sort()).toEqual(expected.flat().sort());
    expect(kills).toBe(killedCreates.length);
  });
});
