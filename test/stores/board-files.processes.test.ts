import files, { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, recordChanges } from './board-files/harness';
import { type Child, spawnChild } from './board-files/spawn-child';

let harness: BoardHarness;
let board: Board;
let children: Child[];

describe('board files with several processes', () => {
  beforeEach(async () => {
    harness = await boardHarness();
    board = await harness.open();
    children = [];
  });
  afterEach(async () => {
    await Promise.all(children.map((child) => child.kill('SIGKILL')));
    await harness.close();
  });

  const start = (...args: string[]): Child => {
    const child = spawnChild(harness.dir, ...args);
    children.push(child);
    return child;
  };

  /** Every task file with its folder. */
  const allFiles = async (): Promise<string[]> => {
    const names = await Promise.all(
      ['active', 'backlog', 'archive'].map(async (folder) =>
        (await harness.files(folder)).map((name) => `${folder}/${name}`),
      ),
    );
    return names.flat().filter((name) => name.endsWith('.md'));
  };

  test('two processes that change one task 200 times each lose nothing', async () => {
    const { id } = await board.create({ title: 'Count' }, { actor });
    const { changes } = recordChanges(board);
    const pair = [start('increment', id, '200'), start('increment', id, '200')];
    expect(await Promise.all(pair.map((child) => child.exited))).toEqual([0, 0]);
    expect((await board.get(id))?.task).toMatchObject({ points: 400, revision: 401 });
    const reported = pair.flatMap(({ reports }) => reports.slice(1) as { points: number }[]);
    expect(new Set(reported.map(({ points }) => points)).size).toBe(400);
    const revisions = changes.map(({ task }) => task!.revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(await harness.files()).toEqual([`${id}-count.md`]);
  });

  test('another process sees a new task at once, and its changes without asking', async () => {
    const other = await harness.open();
    const { lines } = recordChanges(other);
    const { id } = await board.create({ title: 'a' }, { actor });
    expect((await other.get(id))?.task.revision).toBe(1);
    await board.update(id, () => ({ title: 'b' }), { actor });
    expect((await other.get(id))?.task.title).toBe('b');
    await board.update(id, () => ({ title: 'c' }), { actor });
    await eventually(() => expect(other.list({}).tasks[0]?.title).toBe('c'));
    await board.remove(id, { actor });
    expect(await other.get(id)).toBeUndefined();
    expect(lines).toEqual([
      `created ${id} active 1`,
      `updated ${id} active 2`,
      `updated ${id} active 3`,
      `deleted ${id} active`,
    ]);
  });

  test('a new task that the watcher finds while a write searches for it is written', async () => {
    const other = await harness.open();
    const { id } = await board.create({ title: 'a' }, { actor });
    const reallyRead = files.readdir.bind(files) as (path: string) => Promise<string[]>;
    const spy = jest.spyOn(files, 'readdir') as unknown as jest.SpyInstance<Promise<string[]>, [string]>;
    spy.mockImplementationOnce(async (path) => {
      const names = await reallyRead(path);
      await other.get(id);
      return names;
    });
    expect(await other.update(id, () => ({ title: 'b' }), { actor })).toMatchObject({ title: 'b', revision: 2 });
    spy.mockRestore();
  });

  test('kill -9 in the middle of writing leaves the last acknowledged or the next version, once', async () => {
    const rounds = 6;
    for (let round = 1; round <= rounds; round += 1) {
      const { id } = await board.create({ title: 'Title' }, { actor });
      const child = start('rename', id);
      await child.reported(2 + round * 3);
      await child.kill('SIGKILL');
      const acknowledged = (child.reports.at(-1) as { revision: number }).revision;
      const reopened = await harness.open();
      const found = await reopened.get(id);
      expect([acknowledged, acknowledged + 1]).toContain(found?.task.revision);
      expect(found?.task.description).toHaveLength(50_000);
      expect(reopened.diagnostics()).toEqual([]);
      expect((await harness.files()).filter((name) => name.endsWith('.md'))).toHaveLength(round);
      await reopened.close();
    }
  });

  test('kill -9 in the middle of moving leaves the task once, at the last acknowledged or the next version', async () => {
    for (let round = 1; round <= 3; round += 1) {
      const { id } = await board.create({ title: 'Title', description: 'x'.repeat(50_000) }, { actor });
      const child = start('shuttle', id);
      await child.reported(2 + round * 3);
      await child.kill('SIGKILL');
      const acknowledged = (child.reports.at(-1) as { revision: number }).revision;
      const reopened = await harness.open();
      const found = await reopened.get(id);
      expect([acknowledged, acknowledged + 1]).toContain(found?.task.revision);
      expect(found?.task.description).toHaveLength(50_000);
      expect(reopened.diagnostics()).toEqual([]);
      expect((await allFiles()).filter((name) => name.includes(id))).toHaveLength(1);
      await reopened.close();
    }
  });

  test('kill -9 between writing and moving leaves a task that the same move puts where it belongs', async () => {
    const { id } = await board.create({ title: 'a', status: 'blocked' }, { actor, location: 'backlog' });
    const child = start('halfPromote', id);
    await child.exited;
    expect(child.reports).toEqual(['ready']);
    for (const one of [board, await harness.open()]) {
      expect(await one.get(id)).toMatchObject({ location: 'backlog', task: { status: 'todo', revision: 2 } });
      expect(one.diagnostics()).toEqual([]);
    }
    const again = await board.move(id, () => ({ status: 'todo' }), { to: 'active', actor, operation: 'promote' });
    expect(again).toMatchObject({ status: 'todo', revision: 3 });
    expect(await allFiles()).toEqual([`active/${id}-a.md`]);
  });

  test('other processes follow a task that is moved back and forth', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const { changes } = recordChanges(board);
    expect(await start('shuttle', id, '21').exited).toBe(0);
    await eventually(() => expect(board.list({}, 'archive').tasks).toMatchObject([{ id, moves: 21, revision: 22 }]));
    expect(board.list({}).total).toBe(0);
    expect(await board.get(id)).toMatchObject({ location: 'archive', task: { revision: 22 } });
    expect(changes.map(({ kind }) => kind)).not.toContain('deleted');
    expect(changes.at(-1)).toMatchObject({ location: 'archive', task: { revision: 22 } });
    expect(board.diagnostics()).toEqual([]);
  });

  test('a process killed while it holds a lock delays others only until the lock is stale', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const holder = start('hold', id);
    await holder.reported(1);
    await holder.kill('SIGKILL');
    // Waited for longer, it would be refused with 503.
    await expect(board.update(id, () => ({ title: 'b' }), { actor })).resolves.toMatchObject({ revision: 2 });
  });

  test('a living process that does not let go is answered with 503 and not overrun', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    await start('hold', id).reported(1);
    await expect(board.update(id, () => ({ title: 'b' }), { actor })).rejects.toMatchObject({
      status: 503,
      code: 'TASK_BUSY',
    });
    expect((await board.get(id))?.task.title).toBe('a');
    await expect(board.create({ title: 'other' }, { actor })).resolves.toMatchObject({ title: 'other' });
  });

  test('what a dead process left of a write is ignored, and swept when it is old', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const leftover = `active/.${id}-a.md.4242-0123456789ab.tmp`;
    await harness.write(leftover, '---\nid: half');
    await harness.open();
    expect(await harness.files()).toHaveLength(2);
    await utimes(join(harness.dir, leftover), new Date(0), new Date(0));
    const reopened = await harness.open();
    expect(await harness.files()).toEqual([`${id}-a.md`]);
    expect(reopened.diagnostics()).toEqual([]);
  });

  test('a deletion that a crash interrupted is finished at the next start', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const text = await harness.read(`active/${id}-a.md`);
    await board.close();
    await harness.write(`active/${id}-a.md`, text.replace('---\n', '---\ndeletedAt: 2026-01-01T00:00:00.000Z\n'));
    const reopened = await harness.open();
    expect(await reopened.get(id)).toBeUndefined();
    expect(await harness.files()).toEqual([]);
    expect(await harness.files('archive')).toEqual([`${id}-a.md`]);
  });
});
