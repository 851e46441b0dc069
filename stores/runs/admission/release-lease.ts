import type { WorktreeStore } from '../workspaces/worktree-store';

/** How often a release is tried while others change the manifest. */
const tries = 20;

/** Releases what the attempt holds, or transfers it to the attempt that follows. Repeating it changes nothing. */
export async function releaseLease(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  { taskId, attemptId, nextAttemptId }: { taskId: string; attemptId: string; nextAttemptId?: string | undefined },
): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (record?.lease.ownerAttemptId !== attemptId) {
      return;
    }
    const lease = { ...record.lease, ownerAttemptId: nextAttemptId ?? null };
    if (await deps.worktrees.change(record, { lease }, deps.now().toISOString())) {
      return;
    }
  }
  throw new Error(`The manifest of ${taskId} kept changing. Try again.`);
}
