import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Collection, Database, IndexSpec } from '../../stores/port/collection';
import { DuplicateKeyError, StoreUnavailableError } from '../../stores/port/errors';
import { Connection } from '../../stores/sqlite/connection';
import { openSqlite } from '../../stores/sqlite/database';

const log = createLog({ name: 'test', level: 'fatal' });

describe('group commit', () => {
  let directory: TempDir;
  let database: Database;
  let things: Collection<{ _id: string; key?: string; state?: string }>;
  let rival: Connection;
  beforeEach(async () => {
    directory = await makeTempDir('writer');
    const file = join(directory.path, 'store.sqlite');
    database = await openSqlite({ file, log, patienceMs: 150 });
    const indexes: IndexSpec[] = [{ keys: { key: 1 }, unique: true }, { keys: { state: 1 } }];
    things = await database.collection({ name: 'things', indexes });
    rival = new Connection(file);
  });
  afterEach(async () => {
    rival.close();
    await database.close();
    await directory.remove();
  });

  const stored = () => rival.rows<[string]>('SELECT id FROM things ORDER BY id').map(([id]) => id);

  it('undoes the failing write alone', async () => {
    const writes = [{ _id: 'a', key: 'k' }, { _id: 'b', key: 'k' }, { _id: 'a' }, { _id: 'c' }];
    const outcomes = await Promise.allSettled(writes.map((write) => things.insert(write)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(stored()).toEqual(['a', 'c']);
  });

  it('undoes all of a write that changes several documents and fails', async () => {
    for (const [_id, key] of [
      ['a', '1'],
      ['b', '2'],
    ] as const) {
      await things.insert({ _id, key, state: 'x' });
    }
    const both = things.updateMany({ state: 'x' }, { $set: { key: 'same' } });
    await expect(both).rejects.toThrow(DuplicateKeyError);
    expect(await things.find({ state: 'x' }, { sort: { _id: 1 } })).toEqual([
      { _id: 'a', key: '1', state: 'x' },
      { _id: 'b', key: '2', state: 'x' },
    ]);
  });

  it('acknowledges only what other connections can see', async () => {
    const inserts = Array.from({ length: 300 }, async (_, at) => {
      await things.insert({ _id: `t${at}` });
      expect(rival.row('SELECT 1 FROM things WHERE id = ?', `t${at}`)).toEqual([1]);
    });
    await Promise.all(inserts);
  });

  it('waits for a lock without holding up the event loop, and reads meanwhile', async () => {
    await things.insert({ _id: 'a' });
    rival.execute('BEGIN IMMEDIATE');
    const waiting = things.insert({ _id: 'b' });
    let turns = 0;
    await eventually(() => {
      turns += 1;
      expect(turns).toBeGreaterThan(3);
    });
    expect(await things.get('a')).toEqual({ _id: 'a' });
    rival.execute('COMMIT');
    await waiting;
    expect(stored()).toEqual(['a', 'b']);
  });

  it('reports that the store is unavailable when the lock is held for too long, and works again after', async () => {
    rival.execute('BEGIN IMMEDIATE');
    await expect(things.insert({ _id: 'a' })).rejects.toThrow(StoreUnavailableError);
    await expect(database.ping()).rejects.toThrow(StoreUnavailableError);
    rival.execute('COMMIT');
    await things.insert({ _id: 'a' });
    expect(stored()).toEqual(['a']);
  });

  it.each([
    ['the file is no database', 'other.txt'],
    ['the folder cannot be made', 'other.txt/inside/store.sqlite'],
  ])('reports it when %s', async (_, name) => {
    await writeFile(join(directory.path, 'other.txt'), 'not a database, but long enough to look like one'.repeat(100));
    await expect(openSqlite({ file: join(directory.path, name), log })).rejects.toThrow(StoreUnavailableError);
  });
});
