import * as activities from '../../activities/agent-run/completion/task';
import type { Task } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import type { Board } from '../../stores/board-files/board';
import { actor, type BoardHarness, boardHarness } from '../stores/board-files/harness';
import { aCompletion, anAttempt as attemptOf, at } from '../support/factories/records';
import { log } from './admission-fixture';

const [first, second] = ['attempt_fence000001', 'attempt_fence000002'];
/** The second one was made when the first one had been shown. */
const anAttempt = (id: string, fields: Parameters<typeof attemptOf>[1]) =>
  attemptOf(id, { createdAt: at(id === second ? 2 : 0), ...fields });
let harness: BoardHarness;
let board: Board;
let taskId: string;
beforeEach(async () => {
  harness = await boardHarness();
  board = await harness.open();
  ({ id: taskId } = await board.create({ title: 'a' }, { actor }));
});
afterEach(() => harness.close());

/** The holder of the task: the run that starts or ends, unless a test sets another. */
let holder: string | undefined;
const deps = (fields: Partial<Board> = {}) => ({
  activeRuns: { holder: () => Promise.resolve(holder) },
  board: { get: board.get.bind(board), update: fields.update ?? board.update.bind(board) },
  log,
  traces: { record: () => Promise.resolve('trace_1') },
  now: () => new Date(at(1)),
});
const applyStart: typeof activities.applyStart = (dependencies, attempt) => {
  holder = attempt._id;
  return activities.applyStart(dependencies, attempt);
};
const applyCompletion: typeof activities.applyCompletion = (dependencies, attempt, ...rest) => {
  holder = attempt._id;
  return activities.applyCompletion(dependencies, attempt, ...rest);
};
const record = (id: string) => anAttempt(id, { taskId, startedAt: at(1) });
const task = async (): Promise<Task> => (await board.get(taskId))!.task;
const failing = (error: Error) => deps({ update: () => Promise.reject(error) });

it('a start is shown once, and not again once the end is', async () => {
  await applyStart(deps(), record(first));
  const started = await task();
  expect(started).toMatchObject({ status: 'in-progress', attempt: { id: first, status: 'running' } });
  await applyStart(deps(), record(first));
  expect(await task()).toEqual(started);
  await applyCompletion(deps(), record(first), { completion: aCompletion('done'), actualCost: 0 });
  const ended = await task();
  await applyStart(deps(), record(first));
  expect(await task()).toEqual(ended);
});

it('a result is put on the task once, with what it cost', async () => {
  await applyStart(deps(), record(first));
  await applyCompletion(deps(), record(first), { completion: aCompletion('done'), actualCost: 1.5 });
  const ended = await task();
  expect(ended).toMatchObject({
    status: 'done',
    actualCost: 1.5,
    attempt: { id: first, status: 'complete', result: 'success', started: at(1) },
  });
  await applyCompletion(deps(), record(first), { completion: aCompletion('done'), actualCost: 3 });
  expect(await task()).toEqual(ended);
});

it('a result is the one of its own attempt, whatever the task showed of another', async () => {
  await applyStart(deps(), record(first));
  await applyCompletion(deps(), anAttempt(second, { taskId }), {
    completion: aCompletion('failed', 'failed'),
    actualCost: 0,
  });
  const shown = await task();
  expect(shown).toMatchObject({ status: 'in-progress', attempt: { id: second, status: 'failed', result: 'failed' } });
  expect(shown.attempt).not.toHaveProperty('started');
  expect(shown.comments ?? []).toEqual([]);
});

it.each([
  ['start', 'slow'],
  ['result', 'slow'],
  ['start', 'fast'],
  ['result', 'fast'],
])('a late %s changes nothing of the attempt that came after it, however %s its clock is', async (what, clock) => {
  const next = anAttempt(second, { taskId, startedAt: at(2) });
  const late = (dependencies: ReturnType<typeof deps>) => {
    const ours = { ...dependencies, now: () => new Date(at(clock === 'slow' ? -9_000 : 9_000)) };
    return what === 'start'
      ? activities.applyStart(ours, record(first))
      : activities.applyCompletion(ours, record(first), { completion: aCompletion('late', 'failed'), actualCost: 9 });
  };
  // It falls asleep when it has seen that the task is its own.
  holder = first;
  let working: Task | undefined;
  const update = async (...args: Parameters<Board['update']>) => {
    await applyStart(deps(), next);
    working = await task();
    return board.update(...args);
  };
  await late(deps({ update }));
  expect(working).toMatchObject({ status: 'in-progress', attempt: { id: second } });
  expect(await task()).toEqual(working);
  await late(deps());
  expect(await task()).toEqual(working);
  await applyCompletion(deps(), next, { completion: aCompletion('done'), actualCost: 0 });
  const ended = await task();
  expect(ended).toMatchObject({ status: 'done', attempt: { id: second } });
  holder = undefined;
  await late(deps());
  expect(await task()).toEqual(ended);
});

it('a result is put on a task that has come to show its own attempt meanwhile', async () => {
  const update = async (...args: Parameters<Board['update']>) => {
    await applyStart(deps(), record(first));
    return board.update(...args);
  };
  await applyCompletion(deps({ update }), record(first), { completion: aCompletion('done'), actualCost: 0 });
  expect(await task()).toMatchObject({ status: 'done', attempt: { id: first, status: 'complete' } });
});

it.each(['start', 'result'])('a %s that finds the task busy is tried again, not lost', async (what) => {
  const busy = failing(new AppError('TASK_BUSY', { status: 503, message: 'Another process is changing it.' }));
  const applied =
    what === 'start'
      ? applyStart(busy, record(first))
      : applyCompletion(busy, record(first), { completion: aCompletion('x'), actualCost: 0 });
  await expect(applied).rejects.toMatchObject({ code: 'TASK_BUSY' });
});

it('a result that found the task busy once is not taken for one that a ceremony holds back', async () => {
  const busy = new AppError('TASK_BUSY', { status: 503, message: 'Another process is changing it.' });
  const update = jest.fn(board.update.bind(board)).mockRejectedValueOnce(busy);
  const before = await task();
  await expect(
    applyCompletion(deps({ update }), record(first), { completion: aCompletion('done'), actualCost: 0 }),
  ).rejects.toBe(busy);
  expect(await task()).toEqual(before);
  await applyCompletion(deps({ update }), record(first), { completion: aCompletion('done'), actualCost: 0 });
  expect(await task()).toMatchObject({ status: 'done' });
});

it('a task that is gone keeps no run from ending, and a fault of ours is no such thing', async () => {
  await applyCompletion(failing(new AppError('NOT_FOUND', { status: 404, message: 'gone' })), record(first), {
    completion: aCompletion('x'),
    actualCost: 0,
  });
  await applyStart(failing(new AppError('NOT_FOUND', { status: 404, message: 'gone' })), record(first));
  await expect(applyStart(failing(new Error('fault')), record(first))).rejects.toThrow('fault');
  await expect(
    applyCompletion(failing(new Error('fault')), record(first), { completion: aCompletion('x'), actualCost: 0 }),
  ).rejects.toThrow('fault');
});

it('a result that a ceremony holds back blocks the task, and reports which', async () => {
  const required = new AppError('VALIDATION_ERROR', {
    status: 400,
    message: 'A design review first.',
    details: { code: 'CEREMONY_REQUIRED' },
  });
  const held = deps({
    update: (id, change, writer) =>
      board.update(
        id,
        (current, location) => {
          const fields = change(current, location);
          if (fields.status === 'done') {
            throw required;
          }
          return fields;
        },
        writer,
      ),
  });
  await applyCompletion(held, record(first), { completion: aCompletion('done'), actualCost: 0 });
  expect(await task()).toMatchObject({
    status: 'blocked',
    blockedReason: { category: 'prerequisite', note: 'A design review first.' },
    attempt: { id: first, result: 'success' },
  });
});

describe('a task that was changed since the run was admitted', () => {
  const admitted = (id = first) => anAttempt(id, { taskId, startedAt: at(1), taskStatus: 'todo' });
  const set = (fields: Partial<Task>) => board.update(taskId, () => fields, { actor });
  const blocked = { status: 'blocked', blockedReason: { category: 'other' } } as const;

  it.each([[{ status: 'done' } as const], [blocked]])('stays %j when the run starts', async (fields) => {
    await set(fields);
    await applyStart(deps(), admitted());
    expect(await task()).toMatchObject({ ...fields, attempt: { id: first, status: 'running' } });
  });

  it('continues when it was set to something that holds nothing back, or was so before', async () => {
    await set({ status: 'in-progress' });
    await applyStart(deps(), admitted());
    expect(await task()).toMatchObject({ status: 'in-progress' });
    await set({ status: 'todo' });
    await applyStart(deps(), anAttempt('attempt_fence000003', { taskId, createdAt: at(2), taskStatus: 'in-progress' }));
    expect(await task()).toMatchObject({ status: 'in-progress' });
    await set(blocked);
    await applyStart(deps(), anAttempt(second, { taskId, createdAt: at(3), taskStatus: 'blocked' }));
    expect(await task()).toMatchObject({ status: 'in-progress', attempt: { id: second } });
  });

  it('stays as it was set while the run worked, with a comment about its end, once', async () => {
    await applyStart(deps(), admitted());
    await set(blocked);
    await applyCompletion(deps(), admitted(), { completion: aCompletion('finished'), actualCost: 0 });
    const ended = await task();
    expect(ended).toMatchObject({ status: 'blocked', attempt: { id: first, result: 'success' } });
    expect(ended.comments).toEqual([expect.objectContaining({ text: expect.stringContaining('ended as success') })]);
    await applyCompletion(deps(), admitted(), { completion: aCompletion('finished'), actualCost: 0 });
    expect(await task()).toEqual(ended);
  });

  it.each([
    [999, 1_000],
    [1_000, 1_000],
  ])('takes the end without a comment where it has all it may have: %i', async (before, after) => {
    const comments = Array.from({ length: before }, (_, index) => ({
      id: `comment_${index}`,
      author: 'ada',
      text: 'a',
      timestamp: at(0),
      revision: 1,
    }));
    await applyStart(deps(), admitted());
    await set({ ...blocked, comments });
    await applyCompletion(deps(), admitted(), { completion: aCompletion('finished'), actualCost: 0 });
    const ended = await task();
    expect(ended.comments).toHaveLength(after);
    expect(ended).toMatchObject({ status: 'blocked', attempt: { result: 'success' } });
  });

  it('continues with a run of which is not known what the task was at its admission', async () => {
    await set({ status: 'done' });
    await applyStart(deps(), record(first));
    expect(await task()).toMatchObject({ status: 'in-progress', attempt: { id: first } });
    await set(blocked);
    await applyCompletion(deps(), record(second), { completion: aCompletion('finished'), actualCost: 0 });
    expect(await task()).toMatchObject({ status: 'done', attempt: { id: second } });
  });

  it('needs no comment about an end that agrees with it', async () => {
    await applyStart(deps(), admitted());
    await set({ status: 'done' });
    await applyCompletion(deps(), admitted(), { completion: aCompletion('finished'), actualCost: 0 });
    const ended = await task();
    expect(ended).toMatchObject({ status: 'done', attempt: { result: 'success' } });
    expect(ended.comments ?? []).toEqual([]);
  });

  it('takes the end of a run whose start was never shown only while it is as it was', async () => {
    await applyCompletion(deps(), admitted(), { completion: aCompletion('finished'), actualCost: 0 });
    expect(await task()).toMatchObject({ status: 'done', attempt: { id: first } });
    await applyCompletion(deps(), admitted(second), { completion: aCompletion('later', 'failed'), actualCost: 0 });
    expect(await task()).toMatchObject({ status: 'done', attempt: { id: second, result: 'failed' } });
  });

  it('is not touched by the end of a launch that never came to its agent, unless it shows that launch', async () => {
    const never = { ...aCompletion('no', 'failed'), harness: { ended: 'not-dispatched' as const } };
    const before = await task();
    await applyCompletion(deps(), admitted(), { completion: never, actualCost: 0 });
    expect(await task()).toEqual(before);
    await applyStart(deps(), admitted());
    await applyCompletion(deps(), admitted(), { completion: never, actualCost: 0 });
    expect(await task()).toMatchObject({ attempt: { id: first, result: 'failed' } });
  });
});
