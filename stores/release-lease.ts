import type { WorktreeStore } from './worktree-store';

/** How often a lease is given back while others change the manifest. */
const tries = 20;

/** Gives back what the attempt holds, or hands it to the attempt that follows. Repeating it changes nothing. */
export async function releaseLease(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  taskId: string,
  attemptId: string,
  nextAttemptId: string | undefined,
): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (record?.lease.ownerAttemptId !== attemptId) return;
    const lease = { ...record.lease, ownerAttemptId: nextAttemptId ?? null };
    if (await deps.worktrees.change(record, { lease }, deps.now().toISOString())) return;
  }
  throw new Error(`The manifest of ${taskId} kept changing.`);
}
