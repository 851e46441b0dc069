import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Libsql from 'libsql';
import { createLog } from '../../platform/log/log';
import { endStoppedLockHolders, stoppedLockHolders } from '../../platform/processes/stopped-lock-holders';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

let directory: TempDir;
let file: string;
let other: Libsql.Database;
let child: ChildProcess;
describe('stopped lock holders', () => {
  beforeEach(async () => {
    directory = await makeTempDir('stopped');
    file = join(directory.path, 'store.sqlite');
    other = new Libsql(file, { timeout: 20 });
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE entries (id INTEGER)');
    const script = `
    const database = new (require('libsql'))(${JSON.stringify(file)});
    database.exec('BEGIN IMMEDIATE; INSERT INTO entries VALUES (1)');
    process.stdout.write('locked');
    setInterval(() => undefined, 1_000);`;
    child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    if (child.stdout) {
      await once(child.stdout, 'data');
    }
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    other.close();
    await directory.remove();
  });

  const watch = (pids: readonly number[]) =>
    endStoppedLockHolders({
      database: file,
      pids: () => pids,
      log: createLog({ name: 'test', level: 'silent' }),
      afterMs: 50,
      everyMs: 10,
    });

  it('ends a part of ours that is stopped inside a transaction, whose lock is free then and whose write is undone', async () => {
    const pid = child.pid ?? 0;
    expect(await stoppedLockHolders(file)).toEqual([]);
    child.kill('SIGSTOP');
    await eventually(async () => expect(await stoppedLockHolders(file)).toEqual([pid]));
    expect(() => other.exec('BEGIN IMMEDIATE')).toThrow(/locked/);
    const unwatch = watch([pid]);
    await once(child, 'exit');
    unwatch();
    expect(child.signalCode).toBe('SIGKILL');
    await eventually(() => other.exec('BEGIN IMMEDIATE'));
    expect(other.prepare('SELECT count(*) AS count FROM entries').get()).toMatchObject({ count: 0 });
    other.exec('ROLLBACK');
  });

  it('leaves processes that run, are no parts of ours, or hold no lock', async () => {
    const unwatch = watch([process.pid]);
    child.kill('SIGSTOP');
    await eventually(async () => expect(await stoppedLockHolders(file)).toHaveLength(1));
    child.kill('SIGCONT');
    await eventually(async () => expect(await stoppedLockHolders(file)).toEqual([]));
    unwatch();
    expect(child.signalCode).toBeNull();
  });
});
