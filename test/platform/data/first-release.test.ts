import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type RunningService, startAll } from '../../../scripts/start-all';

/**
 * What release 0.3.0, the first one, has left after an ordinary stop: a run that has ended, tasks in all places with comments, a subtask and
 * an observation, a template, a sprint, a project, and the database of Temporal.
 */
const recorded = join(__dirname, 'fixtures', 'data-directory-0.3.0.tgz');
const ids = { run: 'task_20261127_moqydl', attempt: 'attempt_wbkn94jjn64d', bug: 'task_20261127_r1p0qk' };

describe('the data directory of the first release', () => {
  let directory: TempDir;
  let service: RunningService;

  beforeAll(async () => {
    directory = await makeTempDir('first-release');
    execFileSync('tar', ['-xzf', recorded, '-C', directory.path]);
    service = await start();
  });

  afterAll(async () => {
    await service.stop();
    await directory.remove();
  });

  const start = (): Promise<RunningService> =>
    startAll({
      environment: { PATH: process.env.PATH, HOME: process.env.HOME, BOARD_AUTH_ENABLED: 'false' },
      dataDir: join(directory.path, 'board'),
      ports: { api: 0 },
      quiet: true,
    });

  async function call(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${service.apiUrl}/api${path}`, {
      ...init,
      headers: { 'Content-Type': 'application/json' },
    });
    const body: unknown = await response.json();
    expect([path, response.status < 300 ? 'ok' : body]).toEqual([path, 'ok']);
    return body;
  }

  it('opens with its tasks in their places', async () => {
    expect(await call('/tasks')).toMatchObject({ tasks: [{ id: ids.bug }, { id: ids.run }] });
    expect(await call('/backlog')).toMatchObject({ tasks: [{ title: 'Later' }] });
    expect(await call('/tasks/archived')).toMatchObject({ tasks: [{ title: 'Old one' }] });
  });

  it('has what was recorded of a task', async () => {
    expect(await call(`/tasks/${ids.bug}`)).toMatchObject({
      title: 'Müll: "quoted" # and more',
      description: 'Lines\n\n---\nwith a fence',
      status: 'in-progress',
      comments: [{ author: 'ada', text: 'Seen by @bob\nsecond line' }],
      subtasks: [{ title: 'first part' }],
      observations: [{ type: 'decision', content: 'Chosen as it is.' }],
    });
  });

  it('has the attempt of its run, with its events', async () => {
    const path = `/agents/${ids.run}/attempts/${ids.attempt}`;
    expect(await call(path)).toMatchObject({ state: 'ended', agent: 'example' });
    expect(await call(`${path}/events`)).toMatchObject({ events: expect.arrayContaining([expect.anything()]) });
  });

  it('has its settings, and an unbroken audit log', async () => {
    expect(await call('/templates')).toMatchObject([{ name: 'Bug' }]);
    expect(await call('/audit/verify?month=2026-11')).toMatchObject({ valid: true });
  });

  it('takes changes and runs', async () => {
    await call(`/tasks/${ids.bug}`, { method: 'PATCH', body: JSON.stringify({ status: 'done' }) });
    const repository = join(directory.path, 'shop');
    const git = (...args: string[]) => execFileSync('git', ['-C', directory.path, ...args]);
    git('init', '-qb', 'main', repository);
    git('-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'begin', '--allow-empty');
    await call('/config/repos', { method: 'POST', body: JSON.stringify({ name: 'next', path: repository }) });
    const { id } = (await call('/tasks', {
      method: 'POST',
      body: JSON.stringify({ title: 'After the upgrade', git: { repo: 'next' } }),
    })) as { id: string };
    const { attemptId } = (await call(`/agents/${id}/start`, { method: 'POST', body: '{}' })) as { attemptId: string };
    await eventually(async () =>
      expect(await call(`/agents/${id}/attempts/${attemptId}`)).toMatchObject({ state: 'ended', agent: 'example' }),
    );
  });

  it('opens again', async () => {
    await service.stop();
    service = await start();
    expect(await call(`/tasks/${ids.bug}`)).toMatchObject({ status: 'done' });
  });
});
