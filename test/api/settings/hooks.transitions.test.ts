import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { TransitionWatcher } from '../../../api/settings/hooks/transitions';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { type Board, createBoard } from '../../../stores/board-files/board';
import type { Database } from '../../../stores/port/collection';
import { createHookStore } from '../../../stores/settings/hook-store';
import { createTransitionHookStore } from '../../../stores/settings/transition-hook-store';
import { openSqlite } from '../../../stores/sqlite/database';
import { createTaskTransitionOutbox } from '../../../stores/tasks/task-transition-outbox';
import { createTransitionStart } from '../../../workflows/deliver-hooks/client';
import { usualHookTimings } from '../../../workflows/deliver-hooks/messages';
import { someProofs } from '../../support/stack/proofs';

const log = createLog({ name: 'test', level: 'silent' });
let directory: TempDir;
let database: Database;
let board: Board;
let started: string[];
/** What happens to starts of workflows. */
let reachable: boolean;
/** Receives how to end a start that Temporal does not answer. */
let silent: ((expire: () => void) => void) | undefined;

beforeEach(async () => {
  directory = await makeTempDir('transitions');
  database = await openSqlite({ file: join(directory.path, 'store.sqlite'), log });
  board = await createBoard({ dir: join(directory.path, 'tasks'), log, rescanMs: 50 });
  started = [];
  reachable = true;
  silent = undefined;
  const hooks = await createHookStore(database);
  for (const event of ['task.created', 'task.done'] as const) {
    const action = { type: 'webhook', url: 'https://example.org' } as const;
    await hooks.create(`hook_${event}`, { name: event, event, filter: {}, action, enabled: true, order: 0 });
  }
});
afterEach(async () => {
  await board.close();
  await database.close();
  await directory.remove();
});

const client = {
  withDeadline: (deadline: number, call: () => Promise<unknown>) => {
    expect(deadline - Date.now()).toBeLessThan(30_000);
    return call();
  },
  workflow: {
    start: async (_type: string, { workflowId }: { workflowId: string }) => {
      if (!reachable) {
        throw new Error('Temporal cannot be reached.');
      }
      if (silent) {
        return new Promise((_, reject) => silent?.(() => reject(new Error('deadline exceeded'))));
      }
      started.push(workflowId);
    },
  },
} as unknown as Client;

async function watching(settings: { sweepEveryMs?: number } = {}): Promise<TransitionWatcher> {
  const watcher = new TransitionWatcher({
    board,
    hooks: await createHookStore(database),
    transitionHooks: await createTransitionHookStore(database),
    transitionOutbox: await createTaskTransitionOutbox(database),
    startTransition: createTransitionStart(client, someProofs(), usualHookTimings),
    log,
    ...settings,
  });
  await watcher.start();
  return watcher;
}
const done = (id: string) => board.update(id, () => ({ status: 'done' }), { actor: 'test' });
const create = () => board.create({ title: 'A task' }, { actor: 'test' });

describe('the watcher of task transitions', () => {
  it('takes tasks that were there before the first time for granted', async () => {
    const old = await create();
    const watcher = await watching();
    const fresh = await create();
    await done(old.id);
    await eventually(() =>
      expect(started).toEqual([`task-transition/${fresh.id}/1/task.created`, `task-transition/${old.id}/2/task.done`]),
    );
    await watcher.stop();
  });

  it('delivers what happened while no worker ran', async () => {
    await (await watching()).stop();
    const made = await create();
    await done(made.id);
    await writeFile(join(directory.path, 'tasks/active/TASK-7.md'), '---\nid: TASK-7\ntitle: By hand\n---\n');
    await eventually(async () => expect(await board.get('TASK-7')).toBeDefined());
    const watcher = await watching();
    expect(started.sort()).toEqual([
      'task-transition/TASK-7/1/task.created',
      `task-transition/${made.id}/2/task.created`,
    ]);
    await watcher.stop();
  });

  it('delivers what could not be delivered before, as soon as it can', async () => {
    const watcher = await watching();
    reachable = false;
    const { id } = await create();
    const standings = await createTaskTransitionOutbox(database);
    await eventually(async () => expect(await standings.listPending('', 10)).toHaveLength(1));
    // As if the process died here.
    await watcher.stop();
    reachable = true;
    const next = await watching();
    expect(started).toEqual([`task-transition/${id}/1/task.created`]);
    expect(await standings.listPending('', 10)).toEqual([]);
    await next.stop();
  });

  it('records what happens in its order while nothing can be delivered, for the process after it', async () => {
    const { id } = await create();
    const watcher = await watching();
    reachable = false;
    await done((await create()).id);
    const outbox = await createTaskTransitionOutbox(database);
    await eventually(async () => expect(await outbox.listPending('', 10)).toHaveLength(1));
    for (const status of ['done', 'todo', 'done', 'blocked'] as const) {
      await board.update(id, () => ({ status }), { actor: 'test' });
    }
    await watcher.stop();
    reachable = true;
    const next = await watching();
    const ofTask = started.filter((workflowId) => workflowId.includes(id));
    expect(ofTask).toEqual([`task-transition/${id}/2/task.done`, `task-transition/${id}/4/task.done`]);
    await next.stop();
  });

  it('notices a change back to the state that was there before one that is not delivered yet', async () => {
    const { id } = await create();
    const watcher = await watching();
    await done(id);
    await eventually(() => expect(started).toEqual([`task-transition/${id}/2/task.done`]));
    const asked = new Promise<() => void>((resolve) => (silent = resolve));
    await create();
    const expire = await asked;
    for (const status of ['todo', 'done'] as const) {
      await board.update(id, () => ({ status }), { actor: 'test' });
    }
    silent = undefined;
    expire();
    await eventually(() => expect(started).toContain(`task-transition/${id}/4/task.done`));
    await watcher.stop();
  });

  it('has one of several watchers note a change, with where it came from', async () => {
    const standings = await createTaskTransitionOutbox(database);
    const facts = { taskTitle: 'T', taskType: 'code', priority: 'low', timestamp: '2026-11-22T00:00:00.000Z' };
    const at = (revision: number, status: 'todo' | 'done') =>
      standings.record({ taskId: 'TASK-1', revision, status, location: 'active', facts });
    const first = await at(1, 'todo');
    await standings.markDelivered('TASK-1', first);
    const noted = await Promise.all(Array.from({ length: 8 }, () => at(2, 'done')));
    const ids = ['TASK-1/2/task.status.changed', 'TASK-1/2/task.done'];
    expect(noted.map((pending) => pending.map(({ id }) => id))).toEqual(noted.map(() => ids));
    expect(noted[0]![0]!.context).toMatchObject({ previousStatus: 'todo', newStatus: 'done' });
    await standings.markDelivered('TASK-1', noted[0] ?? []);
    expect(await at(1, 'todo')).toEqual([]);
  });

  it('stops after the deadline of an unanswered start, and publishes the transition with the next start', async () => {
    const watcher = await watching();
    const asked = new Promise<() => void>((resolve) => (silent = resolve));
    const { id } = await create();
    const expire = await asked;
    const stopped = watcher.stop();
    expire();
    await stopped;
    expect(started).toEqual([]);
    silent = undefined;
    const next = await watching();
    expect(started).toEqual([`task-transition/${id}/1/task.created`]);
    await next.stop();
  });

  it('stops after the delivery that a sweep of the outbox has begun', async () => {
    const outbox = await createTaskTransitionOutbox(database);
    const watcher = await watching({ sweepEveryMs: 10 });
    const asked = new Promise<() => void>((resolve) => (silent = resolve));
    // Another process recorded it, and died before it could deliver it.
    const facts = { taskTitle: 'T', taskType: 'code', priority: 'low', timestamp: '2026-11-22T00:00:00.000Z' };
    await outbox.record({ taskId: 'TASK-1', revision: 1, status: 'todo', location: 'active', facts });
    const expire = await asked;
    const order: string[] = [];
    const stopped = watcher.stop().then(() => order.push('stopped'));
    setImmediate(() => {
      order.push('start expired');
      expire();
    });
    await stopped;
    expect(order).toEqual(['start expired', 'stopped']);
  });
});
