import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../../../contracts/tasks/task';
import { Operation, runOperation } from '../../../platform/operations/operation';
import { eventually } from '../../../platform/testing/eventually';
import type { Board, TaskChange } from '../../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, recordChanges } from './harness';
import { type Child, spawnChild } from './spawn-child';

let harness: BoardHarness;
let board: Board;
let task: Task;

beforeEach(async () => {
  harness = await boardHarness();
  board = await harness.open();
  task = await board.create({ title: 'Title' }, { actor });
});
afterEach(() => harness.close());

const commentOf = (id: string, text = id) => ({ id, text, author: 'anna', timestamp: task.createdAt, revision: 1 });
const commented =
  (id: string, text?: string): TaskChange =>
  ({ comments = [] }) => ({ comments: [...comments, commentOf(id, text)] });
const add = (id: string, text?: string) => board.update(task.id, commented(id, text), { actor });
const commentIds = ({ comments = [] }: Task) => comments.map(({ id }) => id);
const current = async (of = board) => (await of.get(task.id))?.task;

describe('changes of one task that come together', () => {
  test('are one write, and each is a revision that its caller and the listeners receive', async () => {
    const { lines, changes } = recordChanges(board);
    const written: (string | undefined)[] = [];
    board.onChange(() => {
      const text = readFileSync(join(harness.dir, 'active', `${task.id}-title.md`), 'utf8');
      written.push(/^revision: (\d+)$/m.exec(text)?.[1]);
    });
    const ids = Array.from({ length: 8 }, (_none, at) => `c${at}`);
    const tasks = await Promise.all(ids.map((id) => add(id)));
    expect(tasks.map(({ revision }) => revision)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(tasks.map(commentIds)).toEqual(ids.map((_id, at) => ids.slice(0, at + 1)));
    expect(lines).toEqual(tasks.map(({ revision }) => `updated ${task.id} active ${revision}`));
    expect(changes.map((change) => change.task)).toEqual(tasks);
    expect(written).toEqual(ids.map(() => '9'));
    expect(await current(await harness.open())).toEqual(tasks.at(-1));
  });

  test('are refused one by one, at the version that those before have made', async () => {
    const refused = () => {
      throw new Error('no');
    };
    const results = await Promise.allSettled([
      board.update(task.id, commented('a'), { actor, expectedRevision: 1 }),
      board.update(task.id, commented('b'), { actor, expectedRevision: 1 }),
      board.update(task.id, refused, { actor }),
      board.update(task.id, () => ({ title: '' }), { actor }),
      board.update(task.id, () => ({ title: 'Title' }), { actor }),
      board.update(task.id, commented('c'), { actor, expectedRevision: 2 }),
    ]);
    expect(results).toMatchObject([
      { value: { revision: 2 } },
      { reason: { status: 409, details: { expectedRevision: 1, currentRevision: 2, current: { revision: 2 } } } },
      { reason: { message: 'no' } },
      { reason: { status: 400 } },
      { value: { revision: 2 } },
      { value: { revision: 3 } },
    ]);
    expect(commentIds((await current(await harness.open()))!)).toEqual(['a', 'c']);
  });

  test('are written without one that makes the file too large', async () => {
    const much = { notes: Array.from({ length: 1_100 }, () => 'x'.repeat(2_000)) };
    const results = await Promise.allSettled([add('a'), board.update(task.id, () => much, { actor }), add('b')]);
    expect(results).toMatchObject([
      { value: { revision: 2 } },
      { reason: { code: 'TASK_TOO_LARGE' } },
      { value: { revision: 3 } },
    ]);
    expect(commentIds((await current(await harness.open()))!)).toEqual(['a', 'b']);
  });

  test('keep their order among moves', async () => {
    const seen: string[] = [];
    const noting =
      (name: string): TaskChange =>
      (_current, location) => {
        seen.push(`${name} ${location}`);
        return { assignee: name };
      };
    await Promise.all([
      board.update(task.id, noting('a'), { actor }),
      board.move(task.id, noting('b'), { actor, to: 'archive', operation: 'archive' }),
      board.update(task.id, noting('c'), { actor }),
      board.update(task.id, noting('d'), { actor }),
    ]);
    expect(seen).toEqual(['a active', 'b active', 'c archive', 'd archive']);
    expect(await current()).toMatchObject({ revision: 5, assignee: 'd' });
  });

  test('rename the file once, after its last title', async () => {
    await Promise.all(['One', 'Two'].map((title) => board.update(task.id, () => ({ title }), { actor })));
    expect(await harness.files()).toEqual([`${task.id}-two.md`]);
  });

  test('are made again on what an editor has written meanwhile', async () => {
    let edited = false;
    const editing: TaskChange = (before, location) => {
      if (!edited) {
        edited = true;
        const path = join(harness.dir, 'active', `${task.id}-title.md`);
        const text = readFileSync(path, 'utf8').replace('title: Title', 'title: Edited');
        void harness.write(`active/${task.id}-title.md`, text);
      }
      return commented('a')(before, location);
    };
    await Promise.all([board.update(task.id, editing, { actor }), add('b')]);
    await eventually(async () => {
      const { title, comments } = (await current())!;
      expect([title, comments?.map(({ id }) => id)]).toEqual(['Edited', ['a', 'b']]);
    });
  });

  test('are each part of its own operation', async () => {
    const start = (day: number) =>
      new Operation({ seed: Buffer.alloc(32), startedAt: new Date(Date.UTC(2030, 0, day)), repeated: false });
    const operations = [start(1), start(2), start(3)];
    const [first, second, third] = operations.map((operation, at) =>
      runOperation(operation, () =>
        board.update(task.id, commented(`c${at}`), { actor, expectedRevision: (at % 2) + 1 }),
      ),
    );
    expect(await first).toMatchObject({ updatedAt: '2030-01-01T00:00:00.000Z' });
    expect(await second).toMatchObject({ updatedAt: '2030-01-02T00:00:00.000Z' });
    await expect(third).rejects.toMatchObject({ status: 409 });
    expect(operations.map(({ mayHaveWritten }) => mayHaveWritten)).toEqual([true, true, false]);
  });
});

describe('a process that is killed while it writes changes together', () => {
  let child: Child;
  afterEach(() => child.kill('SIGKILL'));

  test('leaves every acknowledged change, and the others whole or not at all', async () => {
    for (let round = 1; round <= 4; round += 1) {
      const { id } = await board.create({ title: 'Title' }, { actor });
      child = spawnChild(harness.dir, 'comment', id);
      await child.reported(10 + round * 5);
      await child.kill('SIGKILL');
      const reopened = await harness.open();
      const found = (await reopened.get(id))?.task;
      const acknowledged = child.reports.flatMap((report) => (report as { comment?: string }).comment ?? []);
      expect(acknowledged.length).toBeGreaterThan(0);
      expect(found && commentIds(found)).toEqual(expect.arrayContaining(acknowledged));
      expect(found?.revision).toBe((found?.comments?.length ?? 0) + 1);
      expect(reopened.diagnostics()).toEqual([]);
      await reopened.close();
    }
  });
});
