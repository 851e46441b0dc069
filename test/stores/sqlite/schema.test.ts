import { join } from 'node:path';
import PromiseDatabase from 'libsql/promise';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Database, Stored } from '../../../stores/port/collection';
import { DuplicateKeyError } from '../../../stores/port/errors';
import { workspaceDatabase } from '../../../stores/port/workspace-database';
import { openSqlite } from '../../../stores/sqlite/database';

interface Item extends Stored {
  key?: string;
}

describe('the schema of the embedded database', () => {
  let dir: TempDir;
  const opened: Database[] = [];
  beforeEach(async () => {
    dir = await makeTempDir('schema');
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(opened.splice(0).map((database) => database.close()));
    await dir.remove();
  });

  async function open(): Promise<Database> {
    const database = await openSqlite({
      file: join(dir.path, 'board.sqlite'),
      log: createLog({ name: 't', level: 'silent' }),
    });
    opened.push(database);
    return database;
  }

  const names = Array.from({ length: 30 }, (_, n) => `things-${n}`);
  const openAll = async (database: Database) => {
    const [[first]] = await Promise.all([
      Promise.all(names.map((name) => database.collection<Item>({ name, indexes: [{ keys: { key: 1 } }] }))),
      database.log({ name: 'entries' }),
      database.textIndex('words'),
    ]);
    return first!;
  };
  const transactions = (spy: jest.SpyInstance<unknown, [string]>): number =>
    spy.mock.calls.filter(([sql]) => sql.includes('BEGIN IMMEDIATE')).length;

  test('is changed in one transaction for all that is opened together, and in none where everything is there', async () => {
    const executed = jest.spyOn(PromiseDatabase.prototype, 'exec');
    const first = await open();
    const things = await openAll(first);
    expect(transactions(executed)).toBe(1);
    await things.insert({ _id: 'a', key: 'k' });
    const same = await openAll(await open());
    expect(transactions(executed)).toBe(1);
    expect(await same.get('a')).toMatchObject({ key: 'k' });
  });

  test('is changed in one transaction for a workspace that has what others have, step by step as it is opened', async () => {
    const database = await open();
    const openWorkspace = async (workspaceId: string) => {
      const own = workspaceDatabase(database, workspaceId);
      const things = await own.collection<Item>({ name: 'things', indexes: [{ keys: { key: 1 }, unique: true }] });
      await own.log({ name: 'entries', expire: { field: 'at', afterSeconds: 1_000 } });
      await own.textIndex('words');
      return things;
    };
    await openWorkspace('ws-aaaa');
    const executed = jest.spyOn(PromiseDatabase.prototype, 'exec');
    const things = await openWorkspace('ws-bbbb');
    expect(transactions(executed)).toBe(1);
    await things.insert({ _id: 'a', key: 'k' });
    await expect(things.insert({ _id: 'b', key: 'k' })).rejects.toThrow(DuplicateKeyError);
    await openWorkspace('ws-aaaa');
    expect(transactions(executed)).toBe(1);
  });

  test('is made by one of several connections that open the same at once', async () => {
    const databases = await Promise.all([open(), open(), open()]);
    const collections = await Promise.all(databases.map(openAll));
    await Promise.all(collections.map((things, n) => things.insert({ _id: `${n}`, key: `${n}` })));
    expect(await collections[0]!.count({ key: { $in: ['0', '1', '2'] } })).toBe(3);
  });

  test('fails for the collection alone whose documents contradict a unique index', async () => {
    const database = await open();
    const plain = await database.collection<Item>({ name: 'plain', indexes: [] });
    await plain.insert({ _id: 'a', key: 'k' });
    await plain.insert({ _id: 'b', key: 'k' });
    const again = await open();
    const outcomes = await Promise.allSettled([
      again.collection<Item>({ name: 'before', indexes: [{ keys: { key: 1 } }] }),
      again.collection<Item>({ name: 'plain', indexes: [{ keys: { key: 1 }, unique: true }] }),
      again.collection<Item>({ name: 'after', indexes: [] }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: expect.any(DuplicateKeyError) });
  });
});
