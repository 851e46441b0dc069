import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { snapshotDatabases } from '../../../stores/sqlite/snapshot';

describe('snapshotDatabases', () => {
  let directory: TempDir;
  let writer: ChildProcess | undefined;
  const path = (name: string) => join(directory.path, name);

  beforeEach(async () => {
    directory = await makeTempDir('snapshot');
  });
  afterEach(async () => {
    if (writer?.kill('SIGKILL')) {
      await once(writer, 'close');
    }
    writer = undefined;
    await directory.remove();
  });

  const latest = (file: string) => {
    const database = new Libsql(file);
    try {
      const [row] = database.prepare('SELECT max(n), count(*) FROM numbers').raw().all() as [number, number][];
      expect(row![0]).toBe(row![1]);
      return row![0];
    } finally {
      database.close();
    }
  };

  it('copies all databases as of one instant while another process writes them', async () => {
    writer = spawn(process.execPath, [join(__dirname, 'alternating-writer.cjs'), path('first'), path('second')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout!, 'data');

    let before = 0;
    for (let round = 1; round <= 25; round += 1) {
      const copies = ['second', 'first'].map((name) => ({ from: path(name), to: path(`${name}.${round}`) }));
      await snapshotDatabases(copies);
      const [first, second] = ['first', 'second'].map((name) => latest(path(`${name}.${round}`)));
      expect(first! - second!).toBeGreaterThanOrEqual(0);
      expect(first! - second!).toBeLessThanOrEqual(1);
      expect(first).toBeGreaterThan(before);
      before = first!;
    }
    expect(writer.exitCode).toBeNull();
  });

  it('leaves one file of each database, and none of a lock that it had to wait for too long', async () => {
    const held = new Libsql(path('held'));
    held.exec('PRAGMA journal_mode = WAL; CREATE TABLE numbers (n INTEGER); BEGIN IMMEDIATE');
    const copy = () => snapshotDatabases([{ from: path('held'), to: path('copy') }], { patienceMs: 50 });

    await expect(copy()).rejects.toThrow('cannot be locked');
    expect(await readdir(directory.path)).not.toContain('copy');
    held.exec('ROLLBACK');
    await copy();

    expect((await readdir(directory.path)).filter((name) => name.startsWith('copy'))).toEqual(['copy']);
    held.close();
  });

  it('refuses a file that is no database, and one without a log', async () => {
    await writeFile(path('text'), 'not a database, but long enough to be read as the header of one'.repeat(20));
    const rollback = new Libsql(path('rollback'));
    rollback.exec('CREATE TABLE numbers (n INTEGER)');
    rollback.close();

    await expect(snapshotDatabases([{ from: path('text'), to: path('copy') }])).rejects.toThrow('is not a database');
    await expect(snapshotDatabases([{ from: path('rollback'), to: path('copy') }])).rejects.toThrow('mode is delete');
    await expect(snapshotDatabases([{ from: path('absent'), to: path('copy') }])).rejects.toThrow('cannot be copied');
  });
});
