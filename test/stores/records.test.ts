import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { DuplicateKeyError } from '../../stores/port/errors';
import { insertOnce, insertOrGet } from '../../stores/port/insert';
import { createWorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../stores/sqlite/database';
import { aWorktree } from '../support/git/worktrees';

let directory: TempDir;
let database: Database;
beforeEach(async () => {
  directory = await makeTempDir('records');
  const log = createLog({ name: 'test', level: 'silent' });
  database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
});
afterEach(async () => {
  await database.close();
  await directory.remove();
});

describe('a document that is inserted again', () => {
  const open = () =>
    database.collection<{ _id: string; name: string; by: string }>({
      name: 'things',
      indexes: [{ keys: { name: 1 }, unique: true }],
    });

  it('is there once, as it was first', async () => {
    const things = await open();
    expect(await insertOnce(things, { _id: '1', name: 'a', by: 'first' })).toBe(true);
    expect(await insertOnce(things, { _id: '1', name: 'a', by: 'second' })).toBe(false);
    expect(await insertOrGet(things, { _id: '1', name: 'b', by: 'third' })).toEqual({
      _id: '1',
      name: 'a',
      by: 'first',
    });
    expect(await insertOrGet(things, { _id: '2', name: 'b', by: 'third' })).toEqual({
      _id: '2',
      name: 'b',
      by: 'third',
    });
  });

  it('is not taken for another one with the same unique value', async () => {
    const things = await open();
    await insertOnce(things, { _id: '1', name: 'a', by: 'first' });
    await expect(insertOrGet(things, { _id: '2', name: 'a', by: 'second' })).rejects.toThrow(DuplicateKeyError);
  });
});

describe('unfinished operations of worktrees', () => {
  const at = (minute: number) => `2026-11-21T00:0${minute}:00.000Z`;
  it('are found behind any number of others, of which some fail with an error', async () => {
    const worktrees = await createWorktreeStore(database);
    const recoverable = { code: 'CONFLICT', message: 'It conflicts.', path: '/', at: at(0) };
    for (const taskId of ['TASK-1', 'TASK-2']) {
      await worktrees.insert(aWorktree(taskId, { recoverable }));
    }
    await worktrees.insert(aWorktree('TASK-3', { updatedAt: at(1) }));
    await worktrees.insert(aWorktree('TASK-4', { updatedAt: at(2), state: 'ready' }));
    await worktrees.insert(aWorktree('TASK-5', { state: 'cleanup' }));
    const ids = async (stuck: boolean) => {
      const found: string[] = [];
      for await (const { _id } of worktrees.unsettled({ stuck, pageSize: 1 })) {
        found.push(_id);
      }
      return found;
    };
    expect(await ids(false)).toEqual(['TASK-3', 'TASK-5']);
    expect(await ids(true)).toEqual(['TASK-1', 'TASK-2', 'TASK-3', 'TASK-5']);
  });
});
