import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { killPart, type Service, startService } from '../../support/stack/service';

const root = join(__dirname, '../../..');

let files: TempDir;
let repository: string;
let witness: string;
let service: Service;

/** Runs the command with a configuration that it has from its options only. */
const runboard = async (...args: string[]) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'dist/cli/main.js'), '--json', ...args], {
    env: { ...process.env, MONGODB_URL: '', TEMPORAL_ADDRESS: '' },
  });
  return JSON.parse(stdout);
};

const started = () =>
  readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('start '))
    .map((line) => line.split(' ')[1]!);

describe('a backup', () => {
  beforeAll(async () => {
    files = await makeTempDir('backup');
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    service = await startService({ WITNESS: witness, BOARD_MAX_RUNS: '1' });
    repository = await aRepository(files.path);
    await service.call.addRepository('sample', repository);
    await service.call.configureAgents([
      { ...scriptAgent('patient-bee', join(files.path, 'gate')), environmentKeys: ['WITNESS'] },
      scriptAgent('worker-bee', '2', '1'),
    ]);
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  async function launch(agent: string): Promise<{ taskId: string; attemptId: string }> {
    const { id } = await service.call.createTask({ title: `With ${agent}`, git: { repo: 'sample' } });
    const { attemptId } = await service.call.start(id, { agent });
    return { taskId: id, attemptId };
  }

  it('that is made amid runs and writes restores all that was acknowledged before it, after everything was lost', async () => {
    const { call } = service;
    const finished = await launch('worker-bee');
    const before = await call.ended(finished.taskId);
    const events = await call.events(finished.taskId, finished.attemptId);
    await call.ok('POST', `/api/tasks/${finished.taskId}/comments`, { text: 'Before the backup' });
    const working = await launch('patient-bee');
    const queued = await launch('worker-bee');
    await eventually(() => expect(started()).toEqual([working.attemptId]));
    expect((await call.status(queued.taskId)).state).toBe('queued');

    const written: { id: string; at: number }[] = [];
    const enough = new AbortController();
    const writing = (async () => {
      while (!enough.signal.aborted) {
        const { id } = await call.createTask({ title: `Task ${written.length + 1}` });
        written.push({ id, at: Date.now() });
      }
    })();
    await eventually(() => expect(written.length).toBeGreaterThan(5));
    const begun = Date.now();
    const backup = join(files.path, 'backup');
    const manifest = await runboard('backup', backup, '--data-dir', service.dataDir);
    enough.abort();
    await writing;
    expect(manifest).toMatchObject({
      format: 1,
      filesOnly: false,
      databases: ['runboard.sqlite', 'temporal/temporal.db'],
    });
    await promisify(execFile)('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: backup });

    expect((await call.status(working.taskId)).state).toBe('running');
    for (const part of ['api', 'temporal', 'worker']) {
      killPart(service, part);
    }
    service = await service.restart(async (dataDir) => {
      await rm(dataDir, { recursive: true });
      await runboard('restore', backup, dataDir);
    });

    const restored = service.call;
    const acknowledged = written.filter(({ at }) => at < begun);
    expect(acknowledged.length).toBeGreaterThan(5);
    for (const { id } of acknowledged) {
      await restored.ok('GET', `/api/tasks/${id}`);
    }
    const { comments } = await restored.ok('GET', `/api/tasks/${finished.taskId}`);
    expect(comments).toMatchObject([{ text: 'Before the backup' }]);
    expect((await restored.status(finished.taskId)).attempt).toEqual(before.attempt);
    expect(await restored.events(finished.taskId, finished.attemptId)).toEqual(events);
    writeFileSync(join(files.path, 'gate'), '');
    for (const { taskId, attemptId } of [working, queued]) {
      const { attempts } = await eventually(
        async () => {
          const { state, attempt } = await restored.status(taskId);
          expect({ state, status: attempt.completion?.status }).toEqual({ state: 'ended', status: 'success' });
          return restored.ok('GET', `/api/agents/${taskId}/attempts`);
        },
        { everyMs: 200 },
      );
      expect(attempts.at(-1).id).toBe(attemptId);
    }
    const { stdout: listed } = await promisify(execFile)('git', ['ls-tree', '--name-only', `board/${working.taskId}`], {
      cwd: repository,
    });
    expect(listed.split('\n')).toEqual(expect.arrayContaining(['README.md', 'work.txt']));
    const [first] = (await restored.ok('GET', `/api/agents/${working.taskId}/attempts`)).attempts.slice(-1);
    expect(first.completion).toMatchObject({ status: 'interrupted' });
    const ids = started();
    expect(new Set(ids).size).toBe(ids.length);
  });
});
