import { readFileSync, writeFileSync } from 'node:fs';
import { rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
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

/** A task and the path of its file. */
async function aTask(title = 'a'): Promise<{ id: string; path: string }> {
  const { id } = await board.create({ title }, { actor });
  return { id, path: `active/${id}-${title}.md` };
}

async function edit(path: string, from: string | RegExp, to: string): Promise<void> {
  await harness.write(path, (await harness.read(path)).replace(from, to));
}

describe('an edit by hand', () => {
  test('becomes a revision of its own, published once', async () => {
    const { id, path } = await aTask();
    const { lines } = recordChanges(board);
    await edit(path, 'title: a', '# mine\ntitle: Edited\npoints: 0x10');
    await eventually(() => expect(board.list({}).tasks[0]).toMatchObject({ title: 'Edited', revision: 2, points: 16 }));
    expect(await harness.read(path)).toMatch(
      /# mine\ntitle: Edited\n[^]*revision: 2\n[^]*updatedBy: file:hand-edit\npoints: 0x10\n/,
    );
    await expect(board.update(id, () => ({ title: 'stale' }), { actor, expectedRevision: 1 })).rejects.toMatchObject({
      status: 409,
      details: { currentRevision: 2 },
    });
    const task = await board.update(id, () => ({ status: 'done' }), { actor, expectedRevision: 2 });
    expect(task).toMatchObject({ title: 'Edited', revision: 3 });
    expect(lines).toEqual([`updated ${id} active 2`, `updated ${id} active 3`]);
  });

  test('is seen by the next get and by the next write without waiting for the watcher', async () => {
    const { id, path } = await aTask();
    await edit(path, 'title: a', 'title: first');
    expect((await board.get(id))?.task).toMatchObject({ title: 'first', revision: 2 });
    await edit(path, 'title: first', 'title: second');
    expect(await board.update(id, () => ({ points: 1 }), { actor })).toMatchObject({ title: 'second', revision: 4 });
  });

  test('right after a write is seen, also in place and of the same length', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id, path } = await aTask();
      const file = join(harness.dir, path);
      writeFileSync(file, readFileSync(file, 'utf8').replace('title: a', 'title: b'));
      expect((await board.get(id))?.task.title).toBe('b');
      const { path: other, id: another } = await aTask();
      const second = join(harness.dir, other);
      writeFileSync(second, readFileSync(second, 'utf8').replace('title: a', 'title: b'));
      expect(await board.update(another, () => ({ points: 1 }), { actor })).toMatchObject({ title: 'b', points: 1 });
    }
  });

  test('in the very moment of a write is not lost', async () => {
    const { id, path } = await aTask();
    let runs = 0;
    const change = (): { points: number } => {
      runs += 1;
      const file = join(harness.dir, path);
      if (runs === 1) {
        writeFileSync(file, readFileSync(file, 'utf8').replace('title: a', 'title: Edited'));
      }
      return { points: runs };
    };
    expect(await board.update(id, change, { actor })).toMatchObject({ title: 'Edited', points: 2, revision: 3 });
    const conflicting = board.update(id, change, { actor, expectedRevision: 1 });
    await expect(conflicting).rejects.toMatchObject({ details: { currentRevision: 3 } });
  });

  test('is seen when it follows a write at once and keeps the size', async () => {
    const { id, path } = await aTask();
    const file = join(harness.dir, path);
    for (const letter of ['b', 'c', 'd', 'e']) {
      await board.update(id, () => ({ title: 'a' }), { actor });
      writeFileSync(file, readFileSync(file, 'utf8').replace('title: a', `title: ${letter}`));
      expect((await board.get(id))?.task.title).toBe(letter);
    }
  });

  test('gets one new revision, however many boards see it', async () => {
    const others = await Promise.all([harness.open(), harness.open()]);
    const { id, path } = await aTask();
    await Promise.all(others.map((other) => other.get(id)));
    await edit(path, 'title: a', 'title: b');
    const seen = await Promise.all([board, ...others].map((one) => one.get(id)));
    expect(seen.map((found) => found?.task.revision)).toEqual([2, 2, 2]);
  });

  test('that puts an old version back is a new revision as well', async () => {
    const { id, path } = await aTask();
    const old = await harness.read(path);
    await board.update(id, () => ({ points: 1 }), { actor });
    await harness.write(path, old);
    const found = await board.get(id);
    expect(found?.task.revision).toBe(3);
    expect(found?.task).not.toHaveProperty('points');
  });

  test('can create, move, rename and delete tasks', async () => {
    const { lines } = recordChanges(board);
    await harness.write('active/notes.md', fileText({ id: 'TASK-1', title: 'By hand' }, 'text'));
    await eventually(() =>
      expect(board.list({}).tasks).toMatchObject([{ id: 'TASK-1', description: 'text', revision: 1 }]),
    );
    await rename(join(harness.dir, 'active/notes.md'), join(harness.dir, 'backlog/other name.md'));
    await eventually(() => expect(board.list({}, 'backlog').total).toBe(1));
    expect(board.list({}).total).toBe(0);
    expect(await board.update('TASK-1', () => ({ points: 1 }), { actor })).toMatchObject({
      title: 'By hand',
      points: 1,
    });
    expect(await harness.files('backlog')).toEqual(['other name.md']);
    await unlink(join(harness.dir, 'backlog/other name.md'));
    await eventually(() => expect(board.list({}, 'backlog').total).toBe(0));
    expect(await board.get('TASK-1')).toBeUndefined();
    expect(lines).toEqual([
      'created TASK-1 active 1',
      'moved TASK-1 backlog 1',
      'updated TASK-1 backlog 2',
      'deleted TASK-1 backlog',
    ]);
  });

  test('is found without a watcher, too', async () => {
    const { id, path } = await aTask();
    // A folder that was deleted and made again is not the one that is watched.
    await rm(join(harness.dir, 'active'), { recursive: true });
    await eventually(() => expect(board.list({}).total).toBe(0));
    await harness.open();
    await harness.write(path, fileText({ id, title: 'again' }));
    await eventually(() => expect(board.list({}).tasks).toMatchObject([{ id, title: 'again' }]));
  });
});

describe('a file that cannot be read', () => {
  test('is one whose revision no other can follow, until that is mended', async () => {
    const { id, path } = await aTask();
    const whole = await harness.read(path);
    await harness.write(path, whole.replace('revision: 1', `revision: ${Number.MAX_SAFE_INTEGER}`));
    await eventually(() =>
      expect(board.diagnostics()).toMatchObject([
        { path, code: 'invalid', message: expect.stringContaining('revision') },
      ]),
    );
    await expect(board.update(id, () => ({ title: 'b' }), { actor })).rejects.toMatchObject({ status: 409 });
    await harness.write(path, whole.replace('revision: 1', 'revision: 5'));
    expect(await board.update(id, () => ({ title: 'b' }), { actor })).toMatchObject({ title: 'b', revision: 6 });
  });

  test('is reported, left alone and refused until it is mended', async () => {
    const { id, path } = await aTask();
    await aTask('other');
    const { lines } = recordChanges(board);
    const broken = (await harness.read(path)).replace('title: a', 'title: [a');
    await harness.write(path, broken);
    await eventually(() => expect(board.diagnostics()).toMatchObject([{ location: 'active', path, code: 'invalid' }]));
    expect(board.list({}).tasks).toMatchObject([{ title: 'other' }]);
    const refusal = { status: 409, message: expect.stringContaining(path) };
    await expect(board.get(id)).rejects.toMatchObject(refusal);
    await expect(board.update(id, () => ({ title: 'b' }), { actor })).rejects.toMatchObject(refusal);
    await expect(board.remove(id, { actor })).rejects.toMatchObject(refusal);
    await expect(board.create({ title: 'b' }, { actor, id })).rejects.toMatchObject(refusal);
    expect(await harness.read(path)).toBe(broken);

    const reopened = await harness.open();
    await expect(reopened.get(id)).rejects.toMatchObject(refusal);
    await expect(reopened.update(id, () => ({ title: 'b' }), { actor })).rejects.toMatchObject(refusal);
    expect(await harness.read(path)).toBe(broken);

    await edit(path, 'title: [a', 'title: mended');
    expect((await board.get(id))?.task).toMatchObject({ title: 'mended', revision: 2 });
    expect(board.diagnostics()).toEqual([]);
    expect(lines).toEqual([`updated ${id} active 2`]);
  });

  test('is not gone: mending it exactly is no change', async () => {
    const { path } = await aTask();
    const text = await harness.read(path);
    const { lines } = recordChanges(board);
    await harness.write(path, 'oops');
    await eventually(() => expect(board.diagnostics()).toHaveLength(1));
    await harness.write(path, text);
    await eventually(() => expect(board.list({}).tasks).toMatchObject([{ revision: 1 }]));
    expect(lines).toEqual([]);
  });
});

describe('an identity that two files claim', () => {
  test('refuses changes until one file is gone', async () => {
    const { id, path } = await aTask();
    const copy = `backlog/copy.md`;
    await harness.write(copy, (await harness.read(path)).replace('title: a', 'title: copy'));
    await eventually(() =>
      expect(
        board
          .diagnostics()
          .map((one) => [one.code, one.path])
          .sort(),
      ).toEqual([
        ['duplicate-id', path],
        ['duplicate-id', copy],
      ]),
    );
    const source = { taskId: id, businessIds: [] };
    for (const [work, operation] of [
      [() => board.update(id, () => ({ title: 'b' }), { actor }), 'update'],
      [() => board.remove(id, { actor }), 'delete'],
    ] as const) {
      await expect(work()).rejects.toMatchObject({
        status: 409,
        code: 'CONFLICT',
        message: 'Duplicate task identity detected',
        details: {
          operation,
          taskId: id,
          destinationPath: path,
          duplicateIds: [id],
          conflicts: [
            {
              kind: 'task-id',
              id,
              sources: expect.arrayContaining([
                { ...source, location: 'active', path, filename: path.slice(7), title: 'a' },
                { ...source, location: 'backlog', path: copy, filename: 'copy.md', title: 'copy' },
              ]),
            },
          ],
        },
      });
    }
    await unlink(join(harness.dir, copy));
    expect(await board.update(id, () => ({ title: 'b' }), { actor })).toMatchObject({ title: 'b', revision: 2 });
    expect(board.diagnostics()).toEqual([]);
  });

  test('may be an issue or a pull request, and a change may end it', async () => {
    const github = { repo: 'owner/site', issueNumber: 7 };
    const { id } = await board.create({ title: 'a', github }, { actor });
    await expect(board.create({ title: 'b', github }, { actor })).rejects.toMatchObject({
      details: { operation: 'create', duplicateIds: ['github:owner/site#7'], conflicts: [{ kind: 'business-id' }] },
    });
    const shouted = { ...github, repo: 'Owner/Site' };
    await expect(board.create({ title: 'b', github: shouted }, { actor })).rejects.toMatchObject({
      details: { duplicateIds: ['github:Owner/Site#7'] },
    });
    const other = await board.create({ title: 'c' }, { actor });
    await expect(board.update(other.id, () => ({ github }), { actor })).rejects.toMatchObject({ status: 409 });
    await harness.write(
      'active/d.md',
      fileText({ id: 'TASK-4', git: { prUrl: 'https://git.example/o/r/pull/3' }, github }),
    );
    await eventually(() => expect(board.diagnostics()).toHaveLength(2));
    await expect(board.update(id, () => ({ title: 'x' }), { actor })).rejects.toMatchObject({ status: 409 });
    await board.update('TASK-4', () => ({ github: undefined }), { actor });
    expect(board.diagnostics()).toEqual([]);
    await board.remove(id, { actor });
    await expect(board.create({ title: 'b', github }, { actor })).resolves.toMatchObject({ github });
  });
});
