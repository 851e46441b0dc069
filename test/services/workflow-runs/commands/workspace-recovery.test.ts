import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { sweepWorkspaces } from '../../../../services/workflow-runs/commands/sweep';
import { openWorkspaces } from '../../../../services/workflow-runs/commands/workspace';
import { createSnapshots } from '../../../../services/workflow-runs/snapshots/snapshots';
import { openDatabase } from '../../../../stores/port/open';

const runId = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
let directory: TempDir;
let workspace: string;
let commit: string;
beforeEach(async () => {
  directory = await makeTempDir('workspace-recovery');
  const app = join(directory.path, 'app');
  await mkdir(app);
  const git = (...args: string[]): string =>
    String(execFileSync('git', ['-C', app, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args])).trim();
  git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(app, 'a.txt'), 'one\n');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'First');
  commit = git('rev-parse', 'HEAD');
  workspace = join(directory.path, 'workspaces', runId);
  await mkdir(workspace, { recursive: true });
});
afterEach(() => directory.remove());

/** As a process has them that is started again. */
const opened = () =>
  createSnapshots({
    directory: join(directory.path, 'snapshots'),
    repositories: new Map([['app', join(directory.path, 'app')]]),
    now: () => new Date(),
  });
const base = () => ({ name: 'app', commit });
const gitDir = (): string => join(directory.path, 'snapshots', runId);

describe('the workspace of a run after a kill', () => {
  it.each([
    ['nothing but its directory', async () => undefined],
    ['a repository without a half of it', async () => writeFile(join(gitDir(), 'HEAD'), 'ref: refs/heads/run\n')],
    [
      'the locks and the unfinished packs of git, and a part of the files',
      async () => {
        await opened().prepare(runId, workspace, base());
        await rm(join(gitDir(), 'prepared'));
        await leaveLocks();
        await writeFile(join(workspace, 'a.txt'), 'on');
      },
    ],
  ])('is made from what was left: %s', async (_case, leave) => {
    await mkdir(gitDir(), { recursive: true });
    await leave();
    await opened().prepare(runId, workspace, base());
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
    await writeFile(join(workspace, 'b.txt'), 'new\n');
    expect(await opened().commit(runId, workspace, 'Second')).toMatchObject({ touched: ['b.txt'] });
  });

  it('is committed once, whatever git has left of the commit before', async () => {
    await opened().prepare(runId, workspace, base());
    await writeFile(join(workspace, 'b.txt'), 'new\n');
    await leaveLocks();
    const { commit: made } = await opened().commit(runId, workspace, 'Second');
    await leaveLocks();
    expect(await opened().commit(runId, workspace, 'Second')).toEqual({ commit: made, touched: [] });
    expect(await readdir(join(gitDir(), 'objects', 'pack'))).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^tmp_/)]),
    );
  });

  it('is not made again once it is made: what its commands have changed stays', async () => {
    await opened().prepare(runId, workspace, base());
    await writeFile(join(workspace, 'a.txt'), 'two\n');
    await opened().prepare(runId, workspace, base());
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('two\n');
  });

  it('is leased by one host, whichever asks again', async () => {
    const log = createLog({ name: 'test-workspaces', level: 'silent' });
    const database = await openDatabase({ dataDir: directory.path, log });
    try {
      const [one, other] = await Promise.all(
        ['one', 'other'].map((queue) =>
          openWorkspaces(database, { directory: join(directory.path, 'workspaces'), queue, now: () => new Date() }),
        ),
      );
      expect(await one?.assign(runId)).toBe('one');
      expect(await other?.assign(runId)).toBe('one');
      expect(await other?.whereIs(runId)).toBe('elsewhere');
      expect(await one?.whereIs(runId)).toBe('here');
    } finally {
      await database.close();
    }
  });

  it('is removed to its end, after what uses it has ended, also when that was killed or another one cannot be', async () => {
    const workspaces = join(directory.path, 'workspaces');
    await mkdir(join(workspaces, `.removing-${runId}`, 'half'), { recursive: true });
    const stuck = '01ARZ3NDEKTSV4RRFFQ69G5FAA';
    await mkdir(join(workspaces, stuck));
    const used: [string, boolean][] = [];
    const sweep = () =>
      sweepWorkspaces({
        directory: workspaces,
        retentionMs: 0,
        runs: { get: () => Promise.resolve(undefined) },
        endUse: async (id) => {
          used.push([id, existsSync(join(workspaces, id))]);
          if (id === stuck) {
            throw new Error('It does not end.');
          }
        },
        now: () => new Date(),
      });
    await expect(sweep()).rejects.toThrow('1 of ');
    expect(used).toEqual([
      [stuck, false],
      [runId, false],
    ]);
    await sweep();
    expect(await readdir(workspaces)).toEqual([]);
  });
});

/** What git has when it is killed in the middle of anything. */
async function leaveLocks(): Promise<void> {
  for (const name of ['HEAD', 'shallow', 'base-index', 'snapshot-index', 'refs/heads/run', 'packed-refs', 'config']) {
    await mkdir(join(gitDir(), 'refs', 'heads'), { recursive: true });
    await writeFile(join(gitDir(), `${name}.lock`), '');
  }
  await writeFile(join(gitDir(), 'objects', 'pack', 'tmp_pack_a1b2c3'), 'x');
}
