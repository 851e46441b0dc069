import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  attemptDirectories,
  removeAttemptFiles,
  removeFilesOfEnded,
} from '../../activities/agent-run/dispatch/attempt-files';
import type { AttemptState } from '../../contracts/runs/attempt';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { AttemptRecord } from '../../stores/runs/attempt-store';

let directory: TempDir;
describe('attempt files', () => {
  beforeEach(async () => {
    directory = await makeTempDir('attempt-files');
  });
  afterEach(() => directory.remove());

  const now = new Date('2026-01-01T12:00:00Z');
  const states: Record<string, AttemptState> = {
    attempt_ended0000: 'ended',
    attempt_refused00: 'refused',
    attempt_running00: 'running',
  };
  const attempts = {
    get: async (id: string) => (states[id] ? ({ _id: id, state: states[id] } as AttemptRecord) : undefined),
  };

  /** The documents and spools of these attempts. */
  async function filesOf(...ids: string[]) {
    const directories = attemptDirectories(directory.path);
    await mkdir(directories.transportDir, { recursive: true });
    for (const id of ids) {
      await writeFile(join(directories.transportDir, `${id}.json`), '{}');
      await writeFile(join(directories.transportDir, `${id}.json.draft`), '{');
      await mkdir(join(directories.agentsDir, id), { recursive: true });
      await writeFile(join(directories.agentsDir, id, 'out'), 'text');
    }
    const left = async () => ({
      documents: (await readdir(directories.transportDir)).sort(),
      spools: (await readdir(directories.agentsDir)).sort(),
    });
    return { directories, left };
  }

  test('the files of an attempt are its document, half-written or not, and its spool', async () => {
    const { directories, left } = await filesOf('attempt_ended0000', 'attempt_ended00001');
    await removeAttemptFiles(directories, 'attempt_ended0000');
    await removeAttemptFiles(directories, 'attempt_ended0000');
    expect(await left()).toEqual({
      documents: ['attempt_ended00001.json', 'attempt_ended00001.json.draft'],
      spools: ['attempt_ended00001'],
    });
  });

  test('files of attempts that have ended, or unknown for an hour, are removed, and no others', async () => {
    const { directories, left } = await filesOf(...Object.keys(states), 'attempt_unknown000', 'attempt_justmade00');
    await writeFile(join(directories.transportDir, 'README'), 'somebody else put this here');
    for (const path of [
      join(directories.agentsDir, 'attempt_unknown000'),
      join(directories.agentsDir, 'attempt_justmade00'),
    ]) {
      const minutes = path.endsWith('unknown000') ? 61 : 59;
      const at = new Date(now.getTime() - minutes * 60_000);
      await utimes(path, at, at);
    }
    expect(await removeFilesOfEnded(directories, attempts, { now, graceMs: 0 })).toBe(3);
    expect(await left()).toEqual({
      documents: [
        'README',
        'attempt_justmade00.json',
        'attempt_justmade00.json.draft',
        'attempt_running00.json',
        'attempt_running00.json.draft',
      ],
      spools: ['attempt_justmade00', 'attempt_running00'],
    });
    expect(await removeFilesOfEnded(directories, attempts, { now, graceMs: 0 })).toBe(0);
  });

  test('an agent that has outlived the end of its attempt, while its host was away, is ended with it', async () => {
    const { directories, left } = await filesOf('attempt_ended0000', 'attempt_running00');
    const agents = ['attempt_ended0000', 'attempt_running00'].map((id) =>
      spawn('sleep', ['1000'], { env: { PATH: process.env.PATH, BOARD_ATTEMPT_ID: id }, stdio: 'ignore' }),
    );
    const [ended, running] = agents;
    try {
      const exited = once(ended!, 'exit');
      expect(await removeFilesOfEnded(directories, attempts, { now, graceMs: 1_000 })).toBe(1);
      expect(await exited).toEqual([null, 'SIGTERM']);
      expect(running!.signalCode).toBeNull();
      expect((await left()).spools).toEqual(['attempt_running00']);
    } finally {
      for (const agent of agents) {
        agent.kill('SIGKILL');
      }
    }
  });

  test('a host that never ran an agent has nothing to remove', async () => {
    expect(await removeFilesOfEnded(attemptDirectories(directory.path), attempts, { now, graceMs: 0 })).toBe(0);
  });

  test('the handle of an attempt that has ended is removed too, where nothing else was left', async () => {
    const { directories, left } = await filesOf();
    await mkdir(directories.agentsDir, { recursive: true });
    await writeFile(join(directories.transportDir, 'attempt_ended0000.handle.json'), '{}');
    await writeFile(join(directories.transportDir, 'attempt_refused00.handle.json.draft'), '{');
    expect(await removeFilesOfEnded(directories, attempts, { now, graceMs: 0 })).toBe(2);
    expect((await left()).documents).toEqual([]);
  });
});
