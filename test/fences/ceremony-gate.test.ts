import { join } from 'node:path';
import type { Task } from '../../contracts/tasks/task';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Board } from '../../stores/board-files/board';
import { createCompletionGate } from '../../stores/board-files/wrappers/completion-gate';
import { gatedBoard } from '../../stores/board-files/wrappers/gated-board';
import { type CeremonyStore, createCeremonyStore } from '../../stores/governance/ceremony-store';
import type { Database } from '../../stores/port/collection';
import { createSettingsStore, type SettingsStore } from '../../stores/settings/settings-store';
import { openSqlite } from '../../stores/sqlite/database';
import { actor, type BoardHarness, boardHarness } from '../stores/board-files/harness';

let dir: TempDir;
let database: Database;
let harness: BoardHarness;
let plain: Board;
let gated: Board;
let ceremonies: CeremonyStore;
let settings: SettingsStore;
let traced: { outcome: string }[];
describe('ceremony gate fence', () => {
  beforeEach(async () => {
    dir = await makeTempDir('gate');
    database = await openSqlite({
      file: join(dir.path, 's.sqlite'),
      log: createLog({ name: 'test', level: 'silent' }),
    });
    harness = await boardHarness();
    plain = await harness.open();
    ceremonies = await createCeremonyStore(database);
    settings = await createSettingsStore(database, { BOARD_MAX_RUNS: 1, BOARD_RUN_TIMEOUT_MS: 60_000 });
    traced = [];
    const traces = { record: async (trace: { outcome: string }) => `trace_${traced.push(trace)}` };
    gated = gatedBoard(plain, createCompletionGate({ ceremonies, traces, settings }));
  });
  afterEach(async () => {
    await harness.close();
    await database.close();
    await dir.remove();
  });

  const enforce = (ceremonyDesignReview: 'off' | 'warn' | 'block') =>
    settings.patch({ enforcement: { ceremonyDesignReview, ceremonyFailureRetrospective: 'off' } });
  const aTask = (fields: Partial<Task> = {}) => plain.create({ title: 'a', type: 'code', ...fields }, { actor });
  const update = (id: string, fields: Partial<Task>) => gated.update(id, () => fields, { actor });
  const required = expect.objectContaining({
    status: 400,
    details: expect.objectContaining({ code: 'CEREMONY_REQUIRED' }),
  });
  const opened = async (id: string) => (await ceremonies.ofTask(id)).map(({ kind, status }) => `${kind} ${status}`);

  it('keeps a task from being done until its ceremony was held', async () => {
    await enforce('block');
    const { id } = await aTask();
    await expect(update(id, { status: 'done' })).rejects.toEqual(required);
    expect((await plain.get(id))?.task).toMatchObject({ status: 'todo', revision: 1 });
    expect(await opened(id)).toEqual(['design_review pending']);
    await expect(update(id, { status: 'done' })).rejects.toEqual(required);
    expect(await opened(id)).toHaveLength(1);

    const [ceremony] = await ceremonies.ofTask(id);
    const held = { completedBy: 'ada', completedAt: new Date().toISOString(), artifacts: [], actionItems: [] };
    await ceremonies.complete(ceremony!.id, held);
    expect(await update(id, { status: 'done' })).toMatchObject({ status: 'done' });
    expect(traced.map(({ outcome }) => outcome)).toEqual(['blocked', 'blocked']);
  });

  it('does not keep what completes nothing, nor what is done already', async () => {
    await enforce('block');
    const { id } = await aTask();
    expect(await update(id, { status: 'in-progress' })).toMatchObject({ status: 'in-progress' });
    await plain.update(id, () => ({ status: 'done' }), { actor });
    expect(await update(id, { title: 'b' })).toMatchObject({ title: 'b', status: 'done' });
    expect(await opened(id)).toEqual([]);
  });

  it('is no gate while nothing is enforced, and only reports it when it warns', async () => {
    await enforce('off');
    const one = await aTask();
    expect(await update(one.id, { status: 'done' })).toMatchObject({ status: 'done' });
    expect([await opened(one.id), traced]).toEqual([[], []]);
    await enforce('warn');
    const two = await aTask();
    expect(await update(two.id, { status: 'done' })).toMatchObject({ status: 'done' });
    expect([await opened(two.id), traced]).toEqual([
      ['design_review pending'],
      [expect.objectContaining({ outcome: 'warned' })],
    ]);
  });

  it('considers the task as it is when it is changed, not as it was when it was asked', async () => {
    await enforce('block');
    const { id } = await aTask({ type: 'research' });
    let meanwhile = true;
    const board = gatedBoard(
      {
        ...plain,
        update: async (...args: Parameters<Board['update']>) => {
          try {
            return await plain.update(...args);
          } finally {
            // Between the consideration and the change it becomes a task that needs a review.
            if (meanwhile) {
              await plain.update(id, () => ({ type: 'code' }), { actor });
            }
            meanwhile = false;
          }
        },
      },
      createCompletionGate({ ceremonies, traces: { record: async () => 't' }, settings }),
    );
    await expect(board.update(id, () => ({ status: 'done' }), { actor })).rejects.toEqual(required);
    expect((await plain.get(id))?.task).toMatchObject({ status: 'todo', type: 'code' });
  });

  it('opens what a task needed that is changed so that it needs it no more', async () => {
    await enforce('block');
    const { id } = await aTask();
    expect(await update(id, { type: 'research' })).toMatchObject({ type: 'research' });
    expect(await opened(id)).toEqual(['design_review pending']);
    await expect(update(id, { status: 'done' })).rejects.toEqual(required);
  });

  it('is passed by no change of type and status at once, and by no move', async () => {
    await enforce('block');
    const { id } = await aTask();
    await expect(update(id, { type: 'research', status: 'done' })).rejects.toEqual(required);
    await expect(
      gated.move(id, () => ({ status: 'done' }), { to: 'archive', actor, operation: 'archive' }),
    ).rejects.toEqual(required);
    expect((await plain.get(id))?.location).toBe('active');
  });

  it('makes no task that is done and would have needed one', async () => {
    await enforce('block');
    const create = (fields: Partial<Task>) => gated.create({ title: 'a', ...fields }, { actor });
    await expect(create({ status: 'done', type: 'code' })).rejects.toEqual(required);
    await expect(create({ status: 'done' })).rejects.toEqual(required);
    expect(await harness.files()).toEqual([]);
    expect(await create({ status: 'done', type: 'research' })).toMatchObject({ status: 'done' });
    expect(await create({ status: 'todo', type: 'code' })).toMatchObject({ status: 'todo' });
    await enforce('warn');
    const { id } = await create({ status: 'done', type: 'code' });
    expect(await opened(id)).toEqual(['design_review pending']);
  });
});
