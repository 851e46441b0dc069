import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { Connection } from './connection';
import { openSqlite } from './database';
import { checkpointBytes, WriteAheadLog } from './write-ahead-log';

const log = createLog({ name: 'test', level: 'fatal' });

describe('the write-ahead log', () => {
  let directory: TempDir;
  let file: string;
  beforeEach(async () => {
    directory = await makeTempDir('wal');
    file = join(directory.path, 'store.sqlite');
  });
  afterEach(() => directory.remove());

  const size = async (): Promise<number> => (await stat(`${file}-wal`)).size;

  it('does not grow without end, while another connection is open', async () => {
    const database = await openSqlite({ file, log });
    const rival = new Connection(file);
    const things = await database.collection<{ _id: string; text: string }>({ name: 'things', indexes: [] });
    const text = 'x'.repeat(200_000);
    let most = 0;
    for (let written = 0; written < 4 * checkpointBytes.force; written += text.length) {
      await things.insert({ _id: String(written), text });
      most = Math.max(most, await size());
    }
    expect(most).toBeLessThan(2 * checkpointBytes.force);
    expect(rival.row('SELECT count(*) FROM things')).toEqual([Math.ceil((4 * checkpointBytes.force) / text.length)]);
    rival.close();
    await database.close();
  });

  it('is written back and empty after a sync that failed', async () => {
    const connection = new Connection(file);
    connection.rows('PRAGMA journal_mode = WAL');
    connection.execute('CREATE TABLE things (id TEXT PRIMARY KEY)');
    const wal = new WriteAheadLog(file, log);
    await wal.sync();
    const handle = Reflect.get(wal, 'handle') as { datasync: () => Promise<void> };
    jest.spyOn(handle, 'datasync').mockRejectedValueOnce(new Error('EIO: i/o error, fdatasync'));
    connection.run("INSERT INTO things (id) VALUES ('a')");
    await expect(wal.sync()).rejects.toThrow('was not written to its disk: EIO');
    expect(wal.isTorn).toBe(true);
    // A reader that has begun before keeps the log from being emptied.
    connection.execute('BEGIN');
    connection.row('SELECT id FROM things');
    const repairing = wal.repair();
    await expect(repairing).rejects.toThrow('cannot be written to its disk');
    connection.execute('COMMIT');
    await eventually(() => wal.repair());
    expect([wal.isTorn, await size()]).toEqual([false, 0]);
    await wal.close();
    connection.close();
  });
});
