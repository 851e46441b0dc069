import type { Refusal } from '../../contracts/refusal';
import { unsettledStates } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { WorktreeRecord, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { heldBy } from './record';
import { busy, conflicted, inUse } from './refusals';

export { releaseLease } from '../../stores/runs/admission/release-lease';

interface LeaseDependencies {
  worktrees: WorktreeStore;
  attempts: Pick<AttemptStore, 'get'>;
  now(): Date;
}

/** How often a lease is tried for while others change the manifest. */
const tries = 20;

/**
 * Takes the worktree of a task for an attempt. The manifest arbitrates: an operation and a lease exclude each other, because
 * each is a change from the revision at which the other one was not there. A lease of an attempt that is over does not count.
 *
 * @returns the manifest with the lease, or `WORKTREE_MISSING`, `WORKTREE_BUSY`, `WORKTREE_CONFLICTED`, `WORKTREE_IN_USE`
 */
export async function takeLease(
  deps: LeaseDependencies,
  taskId: string,
  attemptId: string,
): Promise<WorktreeRecord | Refusal> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (record && unsettledStates.includes(record.state)) {
      return busy(record);
    }
    if (record?.state !== 'ready') {
      return refusal('WORKTREE_MISSING', 'The task has no worktree, and none could be created.', { taskId });
    }
    if (record.conflict) {
      return conflicted(record);
    }
    const now = deps.now();
    const holder = heldBy(record, now);
    if (holder !== null && holder !== attemptId && !isLeft(await deps.attempts.get(holder))) {
      return inUse(taskId, holder);
    }
    const expiresAt = new Date(now.getTime() + record.lease.seconds * 1000).toISOString();
    const lease = { ...record.lease, ownerAttemptId: attemptId, expiresAt };
    const taken = await deps.worktrees.change(record, { lease }, now.toISOString());
    if (taken) {
      return taken;
    }
  }
  throw new Error(`The manifest of ${taskId} kept changing. Try again.`);
}

/** Whether the lease of an attempt was taken late, by a worker that was asleep when everything of it was released. */
const isLeft = (holder: AttemptRecord | undefined): boolean =>
  holder !== undefined && (holder.abandonedAt !== undefined || holder.state === 'ended' || holder.state === 'refused');
