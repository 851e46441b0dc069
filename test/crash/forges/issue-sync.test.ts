import { eventually } from '../../../platform/testing/eventually';
import { type GithubServer, githubToken, startGithubServer } from '../../support/forges/github-server';
import { aRepository } from '../../support/git/repository';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

const issues = 250;
const outbound = 12;

let service: Service;
let github: GithubServer;
/** Kills the worker once, when the forge receives a request that matches, before it is answered. */
let killAt: RegExp | undefined;
/** Of the requests that create an issue, those that kill the worker; the second one of them is never done. */
const killedCreates = [1, 4, 7];
let creates = 0;
let kills = 0;

function kill(): void {
  killPart(service, 'worker');
  kills += 1;
}

describe('kill -9 of the worker that synchronises issues', () => {
  beforeAll(async () => {
    github = await startGithubServer(({ method = '', url = '', socket }) => {
      const isCreate = /^POST .*\/issues$/.test(`${method} ${url}`);
      creates += isCreate ? 1 : 0;
      const isLast = isCreate && killedCreates.includes(creates);
      if (isLast || killAt?.test(`${method} ${url}`) === true) {
        killAt = undefined;
        kill();
      }
      if (isLast && creates === killedCreates[1]) {
        socket.destroy();
        return true;
      }
      return false;
    });
    github.state.clockMs = Date.now();
    service = await startService(
      { BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '100', GITHUB_CRASH_TOKEN: githubToken },
      { restart: soonAgain },
    );
    await service.call.addRepository('shop', await aRepository(service.dir));
    await service.call.ok('PATCH', '/api/config/repos/shop', {
      forge: {
        ...{ kind: 'github', repository: 'acme/shop', baseUrl: github.baseUrl },
        credential: 'env:GITHUB_CRASH_TOKEN',
      },
    });
  });
  afterAll(() => Promise.all([service.close(), github.close()]));

  const configure = (syncMode: string) =>
    service.call.ok('PUT', '/api/github/sync/config', {
      ...{ enabled: true, repo: 'shop', syncMode, pollIntervalMs: 10_000 },
    });
  const tasks = async () => (await service.call.ok('GET', '/api/tasks')).tasks as any[]; // eslint-disable-line @typescript-eslint/no-explicit-any
  const inStep = async () => {
    const { state, errors } = await service.call.ok('GET', '/api/github/sync/status');
    expect({ state, errors }).toEqual({ state: 'synced', errors: 0 });
  };
  const numbersOf = (all: { github?: { issueNumber: number } }[]) =>
    all.map(({ github: named }) => named?.issueNumber).filter((number) => number !== undefined);

  it('in the middle of an import brings every issue in, each once', async () => {
    for (let at = 1; at <= issues; at += 1) {
      github.openIssue();
    }
    await configure('inbound');
    for (const reached of [20, 120, 200]) {
      await eventually(async () => expect((await tasks()).length).toBeGreaterThan(reached), { everyMs: 5 });
      kill();
    }
    await eventually(async () => {
      expect(await tasks()).toHaveLength(issues);
      await inStep();
    });
    expect(new Set(numbersOf(await tasks())).size).toBe(issues);
    const counted = await service.call.ok('GET', '/api/github/sync/status');
    expect(counted).toMatchObject({ mappings: issues });
  });

  it('while it creates issues creates each once, whether or not the forge had created it', async () => {
    for (let at = 1; at <= outbound; at += 1) {
      await service.call.createTask({ title: `Ours ${at}`, git: { repo: 'shop' } });
    }
    await configure('bidirectional');
    const created = () => github.state.issues.filter(({ title }) => title.startsWith('Ours '));
    await eventually(async () => {
      const ours = (await tasks()).filter(({ title }) => title.startsWith('Ours '));
      expect(numbersOf(ours)).toHaveLength(outbound);
      await inStep();
    });
    expect(creates).toBeGreaterThan(7);
    expect(new Set(created().map(({ title }) => title)).size).toBe(outbound);
    expect(created()).toHaveLength(outbound);
    const all = await tasks();
    expect(all).toHaveLength(issues + outbound);
    expect(new Set(numbersOf(all)).size).toBe(issues + outbound);
  });

  it('between the two sides of a change loses neither', async () => {
    const { id } = (await tasks()).find(({ title }) => title === 'Ours 1');
    const number = github.state.issues.find(({ title }) => title === 'Ours 1')?.number ?? 0;
    killAt = /^PATCH .*\/issues/;
    await service.call.ok('PATCH', `/api/tasks/${id}`, { description: 'From the task', status: 'done' });
    github.editIssue(number, { title: 'From the issue' });
    await eventually(async () => {
      const task = await service.call.ok('GET', `/api/tasks/${id}`);
      expect(task).toMatchObject({ title: 'From the issue', description: 'From the task', status: 'done' });
      const issue = github.state.issues.find((one) => one.number === number);
      expect(issue).toMatchObject({ title: 'From the issue', state: 'closed' });
      expect(issue?.body).toMatch(/^From the task\n/);
      await inStep();
    });
    expect(killAt).toBeUndefined();
    expect(kills).toBe(7);
  });
});
