import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';
import { createTaskCheckpointStore } from '../../stores/tasks/checkpoint-store';
import { aTask } from '../support/factories/task';

let directory: TempDir;
let database: Database;
describe('task checkpoint store', () => {
  beforeEach(async () => {
    directory = await makeTempDir('task-checkpoints');
    const log = createLog({ name: 'test', level: 'silent' });
    database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
  });
  afterEach(async () => {
    await database.close();
    await directory.remove();
  });

  it('gives the state that a task names until its lifetime is over', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    const store = await createTaskCheckpointStore(database, { lifetimeMs: 1_000, now: () => new Date(time) });
    const named = await store.keep('task_20260101_aaaaaa', { 'a.$b': [1] });
    const task = aTask({ checkpoint: { ...named, resumeCount: 2 } });
    expect(await store.read(task)).toEqual({
      checkpoint: { step: 0, state: { 'a.$b': [1] }, timestamp: named.timestamp, resumeCount: 2 },
    });
    expect(store.resumes(task)).toBe(2);
    time += 1_001;
    expect(await store.read(task)).toEqual({ checkpoint: null, expired: true });
    expect(store.resumes(task)).toBe(0);
  });

  it('gives no state of another task, and none that is gone', async () => {
    const store = await createTaskCheckpointStore(database);
    const named = await store.keep('task_20260101_bbbbbb', { secretive: true });
    expect(await store.read(aTask({ checkpoint: named }))).toEqual({ checkpoint: null });
    const own = await store.keep('task_20260101_aaaaaa', {});
    await store.forget(own.id);
    expect(await store.read(aTask({ checkpoint: own }))).toEqual({ checkpoint: null });
  });
});
