import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import type { Board } from '../../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness } from './harness';

const github = { repo: 'owner/site', issueNumber: 7 };
const git = { prUrl: 'https://git.example/owner/site/pull/3' };

describe('an issue or pull request that several callers give to tasks at once', () => {
  let harness: BoardHarness;
  /** Two replicas: what one writes, the other indexes later. */
  let boards: [Board, Board];
  beforeEach(async () => {
    harness = await boardHarness();
    // As slow to notice as can be: each has to ask for what the other has just written.
    boards = [await harness.open({ rescanMs: 60_000 }), await harness.open({ rescanMs: 60_000 })];
  });
  afterEach(() => harness.close());

  /** How many took place; the others were refused as duplicates. */
  async function countDone(changes: Promise<unknown>[]): Promise<number> {
    const outcomes = await Promise.allSettled(changes);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ status: 409, message: 'Duplicate task identity detected' });
      }
    }
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  }
  const boardOf = (index: number): Board => boards[index % 2]!;
  const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T>[] =>
    Array.from({ length: count }, (_, index) => work(index));
  const some = (count: number) =>
    Promise.all(times(count, (index) => boardOf(index).create({ title: 'a' }, { actor })));

  test('is that of one task, by creating', async () => {
    expect(await countDone(times(6, (index) => boardOf(index).create({ title: 'a', github }, { actor })))).toBe(1);
    expect(await countDone(times(6, (index) => boardOf(index).create({ title: 'a', git }, { actor })))).toBe(1);
    expect(boards.flatMap((board) => board.diagnostics())).toEqual([]);
  });

  test('is that of one task, by changing', async () => {
    const tasks = await some(6);
    const changed = tasks.map(({ id }, index) => boardOf(index).update(id, () => ({ github, git }), { actor }));
    expect(await countDone(changed)).toBe(1);
    const read = await Promise.all(tasks.map(({ id }, index) => boardOf(index).get(id)));
    expect(read.filter((found) => found?.task.github).length).toBe(1);
  });

  test('is that of one task, by restoring those that were deleted', async () => {
    const tasks = [];
    for (let index = 0; index < 4; index += 1) {
      const task = await boards[0].create({ title: 'a', github }, { actor });
      await boards[0].remove(task.id, { actor });
      tasks.push(task);
    }
    const restored = tasks.map(({ id }, index) =>
      boardOf(index).move(id, () => ({ deletedAt: undefined, deletedBy: undefined, purgeAfter: undefined }), {
        ...{ actor, to: 'active', operation: 'restore', evenDeleted: true },
      }),
    );
    expect(await countDone(restored)).toBe(1);
  });

  test('waits for no lock that waits for it, whichever order the ids are in', async () => {
    const ids = times(4, (index) =>
      boardOf(index).create(
        {
          title: 'a',
          github: { repo: 'owner/site', issueNumber: (index % 2) + 1 },
          git: { prUrl: `https://git.example/owner/site/pull/${2 - (index % 2)}` },
        },
        { actor },
      ),
    );
    expect(await countDone(ids)).toBe(2);
  });

  test('is free for another task once the first has given it up or was deleted', async () => {
    const first = await boards[0].create({ title: 'a', github }, { actor });
    await boards[0].update(first.id, () => ({ title: 'b' }), { actor });
    expect(await countDone([boards[1].create({ title: 'c', github }, { actor })])).toBe(0);
    await boards[0].update(first.id, () => ({ github: undefined }), { actor });
    await boards[1].get(first.id);
    const second = await boards[1].create({ title: 'c', github }, { actor });
    await boards[1].remove(second.id, { actor });
    await boards[0].get(second.id);
    expect(await countDone([boards[0].create({ title: 'd', github }, { actor })])).toBe(1);
  });

  test('leaves notes beside the locks for a minute', async () => {
    await boards[0].create({ title: 'a', github }, { actor });
    const notes = async () => (await harness.files('.locks')).filter((name) => name.endsWith('.note'));
    const [name = ''] = await notes();
    expect(name).toMatch(/^identity-[0-9a-f]{64}\.note$/);
    await harness.open();
    expect(await notes()).toEqual([name]);
    const earlier = new Date(Date.now() - 61_000);
    await utimes(join(harness.dir, '.locks', name), earlier, earlier);
    await harness.open();
    expect(await notes()).toEqual([]);
  });

  test('is given also where the notes are damaged, or the locks are gone', async () => {
    await boards[0].create({ title: 'a', github }, { actor });
    const [name = ''] = (await harness.files('.locks')).filter((one) => one.endsWith('.note'));
    await harness.write(`.locks/${name}`, '../../../../etc/hostname');
    await eventually(async () =>
      expect(await countDone([boards[1].create({ title: 'b', github }, { actor })])).toBe(0),
    );
    await rm(join(harness.dir, '.locks'), { recursive: true });
    await boards[1].create({ title: 'b', github: { ...github, issueNumber: 8 } }, { actor });
  });
});
