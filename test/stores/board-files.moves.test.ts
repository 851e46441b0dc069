import files from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { conflict } from '../../platform/errors/app-error';
import { eventually } from '../../platform/testing/eventually';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, fileText, recordChanges } from './board-files/harness';

let harness: BoardHarness;
let board: Board;

beforeEach(async () => {
  harness = await boardHarness();
  board = await harness.open();
});
afterEach(() => harness.close());

const archive = { actor, operation: 'archive' };
const restore = { actor, operation: 'restore', evenDeleted: true };
const undeleted = { deletedAt: undefined, deletedBy: undefined, purgeAfter: undefined };

test('changes fields and folder as one change with one revision', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  const { lines } = recordChanges(board);
  const moved = await board.move(id, () => ({ status: 'done' }), { to: 'archive', ...archive, expectedRevision: 1 });
  expect(moved).toMatchObject({ status: 'done', revision: 2, updatedBy: actor });
  expect(await board.get(id)).toEqual({
    task: moved,
    location: 'archive',
    path: `${harness.dir}/archive/${id}-a.md`,
  });
  expect([await harness.files(), await harness.files('archive')]).toEqual([[], [`${id}-a.md`]]);
  expect([board.list({}).total, board.list({}, 'archive').tasks]).toEqual([0, [moved]]);
  expect(lines).toEqual([`moved ${id} archive 2`]);
});

test('a read waits for the write of the same task in this process', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  const { lines } = recordChanges(board);
  let read: Promise<unknown> | undefined;
  await board.exclusive(id, async () => {
    await harness.write(`active/${id}-a.md`, fileText({ id, title: 'a', revision: 2 }));
    read = board.get(id);
    await Promise.race([read, setTimeout(100)]);
    expect(lines).toEqual([]);
  });
  expect(await read).toMatchObject({ task: { revision: 2 } });
  expect(lines).toEqual([`updated ${id} active 2`]);
});

test('a moved task is changed, deleted and read where it is', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  await board.move(id, () => ({}), { to: 'backlog', actor, operation: 'demote' });
  expect(await board.update(id, () => ({ title: 'b' }), { actor })).toMatchObject({ title: 'b', revision: 3 });
  expect(await harness.files('backlog')).toEqual([`${id}-b.md`]);
  await board.remove(id, { actor });
  expect(await board.get(id)).toBeUndefined();
  expect(await harness.files('archive')).toEqual([`${id}-b.md`]);
});

test('a stale revision, a missing task and a refusing change leave everything as it is', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  await expect(board.move(id, () => ({}), { to: 'archive', ...archive, expectedRevision: 7 })).rejects.toMatchObject({
    status: 409,
    details: { expectedRevision: 7, currentRevision: 1 },
  });
  await expect(board.move('TASK-404', () => ({}), { to: 'archive', ...archive })).rejects.toMatchObject({
    status: 404,
  });
  const refuse = (_current: unknown, location: string): never => {
    throw conflict(`it is in ${location}`);
  };
  await expect(board.move(id, refuse, { to: 'archive', ...archive })).rejects.toThrow('it is in active');
  await expect(board.remove(id, { actor, check: refuse })).rejects.toThrow('it is in active');
  expect(await board.get(id)).toMatchObject({ location: 'active', task: { revision: 1 } });
});

test('of many that move a task with the same revision one wins', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  const other = await harness.open();
  const tries = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? board : other).move(id, () => ({}), {
        to: n % 3 ? 'archive' : 'backlog',
        ...archive,
        expectedRevision: 1,
      }),
    ),
  );
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect((await other.get(id))?.task.revision).toBe(2);
});

describe('a name that is taken', () => {
  test('refuses the move before anything is written, and loses nothing', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const taken = `archive/${id}-a.md`;
    const other = fileText({ id: 'TASK-9', title: 'other' });
    await harness.write(taken, other);
    await expect(board.move(id, () => ({ status: 'done' }), { to: 'archive', ...archive })).rejects.toMatchObject({
      status: 409,
      code: 'CONFLICT',
      details: { resourceType: 'task', resourceId: id, destinationPath: taken },
    });
    expect(await harness.read(taken)).toBe(other);
    expect(await board.get(id)).toMatchObject({ location: 'active', task: { status: 'todo', revision: 1 } });
  });

  test('between the read of it and the move is not overwritten, nor is the move called done', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const taken = join(harness.dir, `archive/${id}-a.md`);
    const reallyRename = files.rename.bind(files);
    // The name is taken once the content is in its location, just before the file would be moved.
    const spy = jest.spyOn(files, 'rename').mockImplementationOnce(async (from, to) => {
      await reallyRename(from, to);
      await files.writeFile(taken, 'not a task');
    });
    const move = board.move(id, () => ({ points: 1 }), { to: 'archive', ...archive });
    await expect(move).rejects.toMatchObject({
      status: 409,
      details: { destinationPath: `archive/${id}-a.md` },
    });
    spy.mockRestore();
    expect(await files.readFile(taken, 'utf8')).toBe('not a task');
    expect(await (await harness.open()).get(id)).toMatchObject({ location: 'active', task: { points: 1 } });
  });
});

test('a duplicate identity is refused with the operation and where the file would go', async () => {
  const { id } = await board.create({ title: 'a' }, { actor });
  await harness.write('backlog/copy.md', fileText({ id, title: 'copy' }));
  await eventually(() => expect(board.diagnostics()).toHaveLength(2));
  await expect(board.move(id, () => ({}), { to: 'archive', ...archive })).rejects.toMatchObject({
    status: 409,
    code: 'CONFLICT',
    message: 'Duplicate task identity detected',
    details: {
      operation: 'archive',
      taskId: id,
      destinationPath: `archive/${id}-a.md`,
      duplicateIds: [id],
      conflicts: [{ kind: 'task-id', id, sources: [expect.any(Object), expect.any(Object)] }],
    },
  });
});

describe('restoring', () => {
  test('brings a deleted task back', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    await board.remove(id, { actor });
    const { lines } = recordChanges(board);
    await expect(board.move(id, () => undeleted, { to: 'active', actor, operation: 'restore' })).rejects.toMatchObject({
      status: 404,
    });
    expect(await board.move(id, () => undeleted, { to: 'active', ...restore })).toMatchObject({ id, revision: 3 });
    expect(await harness.files()).toEqual([`${id}-a.md`]);
    expect(lines).toEqual([`created ${id} active 3`]);
  });

  test('is refused when another task has the same issue by now', async () => {
    const github = { repo: 'owner/site', issueNumber: 7 };
    const { id } = await board.create({ title: 'a', github }, { actor });
    await board.remove(id, { actor });
    await board.create({ title: 'b', github }, { actor });
    await expect(board.move(id, () => undeleted, { to: 'active', ...restore })).rejects.toMatchObject({
      details: { operation: 'restore', destinationPath: `active/${id}-a.md`, duplicateIds: ['github:owner/site#7'] },
    });
  });
});
