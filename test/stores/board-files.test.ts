import { taskQuery } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness, recordChanges } from './board-files/harness';

let harness: BoardHarness;
let board: Board;

beforeEach(async () => {
  harness = await boardHarness();
  board = await harness.open();
});
afterEach(() => harness.close());

const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  const error = await work.catch((reason: unknown) => reason);
  if (!(error instanceof AppError)) {
    throw new Error(`not refused: ${String(error)}`);
  }
  return error;
};

describe('create', () => {
  test('writes one readable file and answers the task', async () => {
    const task = await board.create({ title: 'Fix login', description: 'Now.\n', priority: 'high' }, { actor });
    expect(task.id).toMatch(/^task_\d{8}_[a-z0-9]{6}$/);
    expect(task).toMatchObject({ title: 'Fix login', revision: 1, createdBy: actor, status: 'todo', type: 'code' });
    expect(await harness.files()).toEqual([`${task.id}-fix-login.md`]);
    expect(await harness.read(`active/${task.id}-fix-login.md`)).toBe(
      `---\nid: ${task.id}\ntitle: Fix login\ntype: code\nstatus: todo\npriority: high\ncreated: ${task.createdAt}\n` +
        `updated: ${task.updatedAt}\nrevision: 1\ncreatedBy: ${actor}\nupdatedBy: ${actor}\n---\n\nNow.\n\n`,
    );
    expect(await board.get(task.id)).toEqual({
      task,
      location: 'active',
      path: `${harness.dir}/active/${task.id}-fix-login.md`,
    });
  });

  test('a chosen id is used once', async () => {
    await board.create({ title: 'a' }, { actor, id: 'TASK-1', location: 'backlog' });
    expect(await harness.files('backlog')).toEqual(['TASK-1-a.md']);
    const other = await harness.open();
    const tries = await Promise.allSettled(
      [board, other, board, other].map((one) => one.create({ title: 'b' }, { actor, id: 'TASK-2' })),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect(await refusal(other.create({ title: 'c' }, { actor, id: 'TASK-1' }))).toMatchObject({ status: 409 });
  });

  test('refuses what the contract refuses', async () => {
    const error = await refusal(board.create({ title: 'x'.repeat(201) }, { actor, id: '../x' }));
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
    expect(error.details.issues).toEqual([
      expect.objectContaining({ path: 'title' }),
      expect.objectContaining({ path: 'id' }),
    ]);
    expect(await harness.files()).toEqual([]);
  });
});

describe('update', () => {
  test('changes, removes and keeps fields, and counts the revision', async () => {
    const { id } = await board.create({ title: 'a', project: 'p', sprint: 's' }, { actor });
    const task = await board.update(id, () => ({ project: undefined, status: 'done', points: 8 }), { actor: 'user:b' });
    expect(task).toMatchObject({
      revision: 2,
      status: 'done',
      sprint: 's',
      points: 8,
      updatedBy: 'user:b',
      createdBy: actor,
    });
    expect(task).not.toHaveProperty('project');
    expect((await board.get(id))?.task).toEqual(task);
    expect(board.list({}).tasks).toEqual([task]);
  });

  test('identity, author and revision are not for callers to change', async () => {
    const created = await board.create({ title: 'a' }, { actor });
    const task = await board.update(
      created.id,
      () => ({ title: 'b', id: 'TASK-9', revision: 99, createdAt: 'x', createdBy: 'y' }),
      {
        actor,
      },
    );
    expect(task).toMatchObject({ id: created.id, revision: 2, createdAt: created.createdAt, createdBy: actor });
  });

  test('a stale revision is refused with the current task', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const current = await board.update(id, () => ({ title: 'b' }), { actor, expectedRevision: 1 });
    const error = await refusal(board.update(id, () => ({ title: 'c' }), { actor, expectedRevision: 1 }));
    expect(error).toMatchObject({
      status: 409,
      code: 'CONFLICT',
      message: `task ${id} has changed since it was loaded. Reload and retry with the latest revision.`,
      details: { resourceType: 'task', resourceId: id, expectedRevision: 1, currentRevision: 2, current },
    });
    expect(await refusal(board.remove(id, { actor, expectedRevision: 1 }))).toMatchObject({ status: 409 });
  });

  test('of fifty writers with the same revision on two boards one wins', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    const other = await harness.open();
    const tries = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? board : other).update(id, () => ({ title: `t${n}` }), { actor, expectedRevision: 1 }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await board.get(id))?.task.revision).toBe(2);
  });

  test('a new title renames the file', async () => {
    const { id } = await board.create({ title: 'Old name' }, { actor });
    await board.update(id, () => ({ title: 'New name' }), { actor });
    expect(await harness.files()).toEqual([`${id}-new-name.md`]);
    expect((await board.get(id))?.path).toBe(`${harness.dir}/active/${id}-new-name.md`);
  });

  test('an invalid or failing change writes nothing', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    expect(await refusal(board.update(id, () => ({ title: '' }), { actor }))).toMatchObject({ status: 400 });
    const failing = (): never => {
      throw new AppError('GATE', { status: 400, message: 'no' });
    };
    expect(await refusal(board.update(id, failing, { actor }))).toMatchObject({ code: 'GATE' });
    expect((await board.get(id))?.task.revision).toBe(1);
    expect(await harness.files()).toHaveLength(1);
  });

  test('the index returns tasks that are frozen', async () => {
    const task = await board.create({ title: 'a', subtasks: [{ id: 's', title: 'b', completed: false }] }, { actor });
    expect(() => (task.title = 'b')).toThrow(TypeError);
    expect(() => (task.subtasks[0]!.completed = true)).toThrow(TypeError);
  });
});

describe('remove', () => {
  test('moves to the archive with its dates and is not found any more', async () => {
    const { id } = await board.create({ title: 'a' }, { actor });
    await board.remove(id, { actor: 'user:b' });
    expect(await harness.files()).toEqual([]);
    expect(await harness.files('archive')).toEqual([`${id}-a.md`]);
    expect(await harness.read(`archive/${id}-a.md`)).toMatch(
      /revision: 2\n[^]*deletedAt: .*\ndeletedBy: user:b\npurgeAfter: /,
    );
    expect(await board.get(id)).toBeUndefined();
    expect(board.list({}).total + board.list({}, 'archive').total).toBe(0);
    expect(board.counts().archived).toBe(0);
    expect(await refusal(board.update(id, () => ({}), { actor }))).toMatchObject({ status: 404 });
    expect(await refusal(board.remove(id, { actor }))).toMatchObject({ status: 404 });
    expect(await refusal(board.create({ title: 'b' }, { actor, id }))).toMatchObject({ status: 409 });
  });
});

test.each(['../../etc/passwd', 'TASK-\u0000', `TASK-${'x'.repeat(300)}`, '', 'TASK-1/../x', '__proto__'])(
  'the id %j is simply not found',
  async (id) => {
    expect(await board.get(id)).toBeUndefined();
    expect(await refusal(board.update(id, () => ({}), { actor }))).toMatchObject({ status: 404 });
    expect(await refusal(board.remove(id, { actor }))).toMatchObject({ status: 404 });
  },
);

test('lists newest first and counts every column', async () => {
  let second = 0;
  const clocked = await harness.open({ clock: () => new Date(Date.UTC(2026, 0, 1, 0, 0, (second += 1))) });
  const create = (title: string, location?: 'backlog' | 'archive') => clocked.create({ title }, { actor, location });
  const a = await create('a');
  const b = await create('b');
  const c = await create('c', 'backlog');
  await create('d', 'archive');
  await clocked.update(a.id, () => ({ status: 'blocked' }), { actor });
  expect(clocked.list(taskQuery.parse({})).tasks.map(({ id }) => id)).toEqual([a.id, b.id]);
  expect(clocked.list({}, 'backlog').tasks.map(({ id }) => id)).toEqual([c.id]);
  expect(clocked.counts()).toEqual({ backlog: 1, todo: 1, 'in-progress': 0, blocked: 1, done: 0, archived: 1 });
});

test('the version grows and listeners are notified once of each change', async () => {
  const { lines } = recordChanges(board);
  const before = board.version;
  const { id } = await board.create({ title: 'a' }, { actor });
  await board.update(id, () => ({ title: 'b' }), { actor });
  const between = board.version;
  await board.remove(id, { actor });
  expect(between).toBeGreaterThan(before);
  expect(board.version).toBeGreaterThan(between);
  expect(lines).toEqual([`created ${id} active 1`, `updated ${id} active 2`, `deleted ${id} active`]);
});

test('a listener that fails does not fail the write', async () => {
  board.onChange(() => {
    throw new Error('listener');
  });
  await expect(board.create({ title: 'a' }, { actor })).resolves.toMatchObject({ title: 'a' });
});
