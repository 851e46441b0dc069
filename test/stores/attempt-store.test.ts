import { join } from 'node:path';
import type { AttemptState } from '../../contracts/runs/attempt';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { type AttemptRecord, createAttemptStore } from '../../stores/runs/attempt-store';
import { openSqlite } from '../../stores/sqlite/database';

let directory: TempDir;
let database: Database;
beforeEach(async () => {
  directory = await makeTempDir('attempts');
  database = await openSqlite({
    file: join(directory.path, 'store.sqlite'),
    log: createLog({ name: 'test', level: 'silent' }),
  });
});
afterEach(async () => {
  await database.close();
  await directory.remove();
});

/** Attempts of one task in these states, the oldest first. */
async function someAttempts(...states: AttemptState[]) {
  const attempts = await createAttemptStore(database);
  for (const [index, state] of states.entries()) {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    await attempts.create({ _id: `a${index}`, taskId: 'task_1', state, createdAt, revision: 1 } as AttemptRecord);
  }
  return attempts;
}

describe('latest attempt of a task', () => {
  test.each<[string, AttemptState[], string | undefined]>([
    ['is the running one, whatever was refused since', ['ended', 'running', 'refused', 'refused'], 'a1'],
    ['is the running one while another launch is being admitted', ['running', 'admitted'], 'a0'],
    ['is the first of two that are being admitted', ['ended', 'admitted', 'admitted'], 'a1'],
    ['is the newest launched one when nothing runs', ['ended', 'ended', 'refused'], 'a1'],
    ['is the one that is queued', ['ended', 'queued', 'refused'], 'a1'],
    ['is none when every launch was refused', ['refused', 'refused'], undefined],
  ])('%s', async (_case, states, id) => {
    const attempts = await someAttempts(...states);
    expect((await attempts.latest('task_1'))?._id).toBe(id);
  });
});

it('lists what the launched attempts of a task have used', async () => {
  const attempts = await someAttempts('ended', 'ended', 'refused', 'running');
  const used = (cost: number) => ({ inputTokens: 1, outputTokens: 2, cacheTokens: 3, cost });
  await attempts.recordUsage('a0', used(1));
  await attempts.recordUsage('a1', used(2));
  await attempts.recordUsage('a2', used(4));
  expect(await attempts.usages('task_1', 10)).toEqual([used(2), used(1)]);
  expect(await attempts.usages('task_1', 2)).toEqual([used(2)]);
  expect(await attempts.usages('task_2', 10)).toEqual([]);
});

it('lists active attempts with the fields that are shown of them', async () => {
  const attempts = await someAttempts('running', 'ended', 'queued');
  expect(await attempts.listActive(1)).toEqual([{ _id: 'a2', state: 'queued', taskId: 'task_1' }]);
  expect((await attempts.listActive(10)).map(({ _id }) => _id)).toEqual(['a2', 'a0']);
});

it('attempts are listed without refused launches, which have a list of their own', async () => {
  const attempts = await someAttempts('ended', 'refused', 'running');
  const ids = async (states?: AttemptState[]) =>
    (await attempts.list('task_1', { limit: 10 }, { states })).items.map(({ _id }) => _id);
  expect(await ids()).toEqual(['a2', 'a0']);
  expect(await ids(['refused'])).toEqual(['a1']);
  expect(await ids(['refused', 'running'])).toEqual(['a2', 'a1']);
});
