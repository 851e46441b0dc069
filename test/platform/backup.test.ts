import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createBackup } from '../../scripts/backup/create';
import { restoreBackup } from '../../scripts/backup/restore';

/** A data directory with a little of everything. */
async function fill(dataDir: string): Promise<void> {
  const files = {
    'tasks/active/task_1-one.md': '# One\n',
    'tasks/active/.task_1-one.md.1-0123456789ab.tmp': 'unfinished',
    'tasks/archive/a\nb.md': 'a name of two lines',
    'blobs/output/ab/abcd': 'output',
    'blobs/output/unfinished/x': 'unfinished',
    'bitmap/log-0000000001': 'log',
    'bitmap/runtime/supervisor.json': '{}',
    'host-id': 'host',
    'logs/api.log': 'log',
    'runtime/supervisor.json': '{}',
    'worktrees/task_1/file.txt': 'work',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(dataDir, path, '..'), { recursive: true });
    await writeFile(join(dataDir, path), text);
  }
  await mkdir(join(dataDir, 'tasks', 'backlog'));
  await symlink('/etc', join(dataDir, 'workflow-link'));
  for (const path of ['runboard.sqlite', 'temporal/temporal.db']) {
    await mkdir(join(dataDir, path, '..'), { recursive: true });
    const database = new Libsql(join(dataDir, path));
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1)');
  }
}

describe('the backup of a data directory', () => {
  let directory: TempDir;
  const path = (name: string) => join(directory.path, name);
  const create = (options: { target?: string; filesOnly?: boolean; elsewhere?: string[] } = {}) =>
    createBackup({
      dataDir: path('data'),
      target: options.target ?? path('backup'),
      filesOnly: options.filesOnly ?? false,
      elsewhere: options.elsewhere ?? [],
      report: () => undefined,
    });
  const restore = (dataDir = path('restored')) =>
    restoreBackup({ backup: path('backup'), dataDir, report: () => undefined });

  beforeEach(async () => {
    directory = await makeTempDir('backup');
    await mkdir(path('data'));
    await fill(path('data'));
  });
  afterEach(() => directory.remove());

  it('has what a board needs, and neither logs, worktrees nor unfinished writes', async () => {
    const manifest = await create();
    expect(manifest).toMatchObject({ files: 7, databases: ['runboard.sqlite', 'temporal/temporal.db'] });

    await restore();

    expect((await readdir(path('restored'))).sort()).toEqual((await readdir(path('data'))).filter(isNoLog).sort());
    expect(await readdir(path('restored/tasks/active'))).toEqual(['task_1-one.md']);
    expect(await readFile(path('restored/tasks/archive/a\nb.md'), 'utf8')).toBe('a name of two lines');
    expect(await readdir(path('restored/tasks/backlog'))).toEqual([]);
    expect(await readdir(path('restored/worktrees'))).toEqual([]);
    expect(await readdir(path('restored/logs'))).toEqual([]);
    expect(await readlink(path('restored/workflow-link'))).toBe('/etc');
    expect(new Libsql(path('restored/temporal/temporal.db')).prepare('SELECT n FROM t').raw().all()).toEqual([[1]]);
  });
  const isNoLog = (name: string) => !/-(?:wal|shm)$/.test(name);

  it('is for its user alone', async () => {
    await create();
    expect((await stat(path('backup'))).mode & 0o077).toBe(0);
    await restore();
    expect((await stat(path('restored'))).mode & 0o077).toBe(0);
  });

  it('is refused where it would replace something, be in the data directory or lack what is elsewhere', async () => {
    await mkdir(path('taken'));
    await expect(create({ target: path('taken') })).rejects.toThrow('exists already');
    await expect(create({ target: path('nowhere/backup') })).rejects.toThrow('is not a directory');
    await expect(create({ target: path('data/tasks/backup') })).rejects.toThrow('is in the data directory');
    await expect(create({ elsewhere: ['the stores'] })).rejects.toThrow('the stores. Back those up');
    await rm(path('data/temporal'), { recursive: true });
    await expect(create()).rejects.toThrow('the database of Temporal. Back those up');
    expect(await create({ filesOnly: true })).toMatchObject({ filesOnly: true, databases: ['runboard.sqlite'] });
    await rm(path('data'), { recursive: true });
    await mkdir(path('data'));
    await expect(create({ target: path('other') })).rejects.toThrow('is not the data directory of a board');
  });

  it('leaves nothing when a database is damaged', async () => {
    await rm(path('data/runboard.sqlite-wal'), { force: true });
    await writeFile(path('data/runboard.sqlite'), 'no database at all, and longer than a header'.repeat(40));
    await expect(create()).rejects.toThrow('runboard.sqlite cannot be copied');
    expect(await readdir(directory.path)).toEqual(['data']);
  });

  it.each<[what: string, damage: () => Promise<unknown>, message: string]>([
    ['a changed file', () => appendFile(path('backup/data/host-id'), '!'), 'is damaged: host-id'],
    ['a missing file', () => rm(path('backup/data/host-id')), 'data/host-id is missing'],
    ['an added file', () => writeFile(path('backup/data/added'), ''), 'without a checksum: added'],
    ['changed checksums', () => appendFile(path('backup/SHA256SUMS'), '\n'), 'SHA256SUMS has been changed'],
    ['no checksums', () => rm(path('backup/SHA256SUMS')), 'has no SHA256SUMS'],
    ['no manifest', () => rm(path('backup/backup.json')), 'is not a backup'],
    ['the manifest of a later version', () => manifestWith({ format: 2 }), 'not one that this version reads: format'],
    ['a directory outside', () => manifestWith({ directories: ['../outside'] }), 'outside of itself: ../outside'],
    ['a link outside', () => manifestWith({ links: { '/tmp/link': 'x' } }), 'outside of itself: /tmp/link'],
  ])('is not restored with %s, and nothing is left', async (_, damage, message) => {
    await create();
    await damage();
    await expect(restore()).rejects.toThrow(message);
    expect((await readdir(directory.path)).sort()).toEqual(['backup', 'data']);
  });
  const manifestWith = async (fields: object) => {
    const file = path('backup/backup.json');
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...fields }));
  };

  it('is restored into an empty directory, and never over anything', async () => {
    await create();
    await expect(restore(path('data'))).rejects.toThrow('is not empty');
    await expect(restore(path('nowhere/restored'))).rejects.toThrow('is not a directory');
    await mkdir(path('empty'));
    await restore(path('empty'));
    expect(existsSync(path('empty/runboard.sqlite'))).toBe(true);
  });

  it('follows files that move while it is made', async () => {
    const moved = Array.from({ length: 300 }, (_, n) => `task_${n}.md`);
    await Promise.all(moved.map((name) => writeFile(path(`data/tasks/active/${name}`), name)));
    const moving = (async () => {
      for (const name of moved) {
        await rename(path(`data/tasks/active/${name}`), path(`data/tasks/archive/${name}`));
      }
    })();
    await create();
    await moving;
    const copies = await Promise.all(
      ['active', 'archive'].map((folder) => readdir(path(`backup/data/tasks/${folder}`))),
    );
    expect(
      copies
        .flat()
        .filter((name) => /^task_\d+\.md$/.test(name))
        .sort(),
    ).toEqual(moved.toSorted());
  });
});
