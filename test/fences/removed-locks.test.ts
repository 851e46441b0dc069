import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createWorktreeFences, type WorktreeFences } from '../../activities/worktree/fences';
import { removeLocksOfRemoved } from '../../activities/worktree/removed-locks';
import { createLog } from '../../platform/log/log';
import { identifySelf } from '../../platform/processes/identity';
import { holdsSequenceLock, takeSequenceLock } from '../../platform/processes/sequence-lock';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import {
  createWorktreeStore,
  type WorktreeRecord,
  type WorktreeStore,
} from '../../stores/runs/workspaces/worktree-store';
import { openSqlite } from '../../stores/sqlite/database';
import { at, aWorktree, taskId } from '../support/factories/records';
import { type Interleaving, interleaving } from './interleaving';

let dir: TempDir;
let db: Interleaving;
let worktrees: WorktreeStore;
let fences: WorktreeFences;
const operation = { id: 'op', kind: 'cleanup' as const, actor: 'ada', startedAt: at(0) };

beforeEach(async () => {
  dir = await makeTempDir('fences');
  db = interleaving(
    await openSqlite({ file: join(dir.path, 'board.sqlite'), log: createLog({ name: 't', level: 'silent' }) }),
  );
  worktrees = await createWorktreeStore(db);
  fences = createWorktreeFences({ worktrees, dir: locks(), self: await identifySelf() });
  await worktrees.insert(aWorktree({ state: 'cleanup', operation }));
});
afterEach(async () => {
  expect(db.isThrough).toBe(true);
  await db.close();
  await dir.remove();
});

const locks = () => join(dir.path, 'fences');
const remove = () => removeLocksOfRemoved(locks(), worktrees);
const change = async (fields: Partial<WorktreeRecord>) =>
  worktrees.change((await worktrees.get(taskId))!, fields, at(1));
const removed = { state: 'removed' as const, operation: null };
const again = { state: 'preparing' as const, operation: { ...operation, id: 'op_2' } };

describe('locks of removed worktrees', () => {
  it('are kept while the worktree is there, or changes', async () => {
    const fence = (await fences.take(taskId, { operationId: 'op' }))!;
    expect(await remove()).toBe(0);
    await change({ state: 'ready', operation: null });
    expect(await remove()).toBe(0);
    expect(fence.locks.every(holdsSequenceLock)).toBe(true);
  });

  it('are removed with the worktree, also those of rewinds; who had one does not hold it any more', async () => {
    const fence = (await fences.take(taskId, { operationId: 'op' }))!;
    const rewind = { dir: join(locks(), `${taskId}.work`, 'rewind_1'), sequence: 1 };
    takeSequenceLock(rewind, {});
    takeSequenceLock({ dir: join(locks(), 'task_20260101_gone00'), sequence: 3 }, {});
    await change(removed);
    expect(await remove()).toBe(3);
    expect(readdirSync(locks())).toEqual([]);
    expect([...fence.locks, rewind].map(holdsSequenceLock)).toEqual([false, false]);
    expect(await remove()).toBe(0);
  });

  it('continue above the last sequence when the worktree is made again', async () => {
    const fence = (await fences.take(taskId, { operationId: 'op' }))!;
    await change(removed);
    await remove();
    await change(again);
    const next = (await fences.take(taskId, { operationId: 'op_2' }))!;
    expect(next.locks[0]!.sequence).toBeGreaterThan(fence.locks[0]!.sequence);
    // A late holder that takes the lock that is gone is refused by the stores, and gives way to the next one on the disk.
    expect(takeSequenceLock(fence.locks[0]!, {})).toBe(false);
    expect([await fence.holds(), await next.holds()]).toEqual([false, true]);
    expect(next.locks.every(holdsSequenceLock)).toBe(true);
  });

  it.each(['before', 'after'] as const)(
    'leave a holder that comes %s the read of the manifest what it has taken',
    async (when) => {
      await fences.take(taskId, { operationId: 'op' });
      await change(removed);
      let next: Awaited<ReturnType<WorktreeFences['take']>>;
      db[when]('worktrees', 'get', async () => {
        await change(again);
        next = await fences.take(taskId, { operationId: 'op_2' });
      });
      expect(await remove()).toBe(0);
      expect([next!.locks.every(holdsSequenceLock), await next!.holds()]).toEqual([true, true]);
      expect(existsSync(join(locks(), taskId))).toBe(true);
    },
  );
});
