import type { Refusal } from '../../contracts/refusal';
import { unsettledStates } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import type { Fence } from '../../providers/git/fence';
import type { GitError } from '../../providers/git/git-error';
import { remadeAt } from '../../providers/git/worktrees/worktree-location';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import type { WorktreeChange, WorktreeRecord, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';

/** The code of a manifest whose worktree is lost: something else replaced it. */
export const worktreeReplaced = 'WORKTREE_REPLACED';

const advice = (taskId: string): string =>
  `Nothing there was changed. Inspect it; then an administrator can remove it with DELETE /api/tasks/${taskId}/worktree` +
  '?force=true&reason=…, which moves its files aside and keeps the branch; it can then be created again.';

/** The state of the manifest of such a worktree. */
export const replacedState = ({ path }: WorktreeRecord, error: GitError, now: Date): WorktreeChange => ({
  state: 'failed',
  recoverable: { code: worktreeReplaced, message: error.message, path, at: now.toISOString() },
});

export const replacedRefusal = ({ _id, path }: WorktreeRecord, error: GitError): Refusal =>
  refusal(worktreeReplaced, `${error.message} ${advice(_id)}`, { taskId: _id, path });

/** How often a change is tried while others change the manifest. */
const tries = 20;

/** Records that the worktree of a task is lost, unless an operation is in the middle of it, which finds out by itself. */
export async function recordReplaced(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  taskId: string,
  error: GitError,
): Promise<WorktreeRecord | undefined> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (record?.state !== 'ready') {
      return record;
    }
    const now = deps.now();
    const changed = await deps.worktrees.change(record, replacedState(record, error, now), now.toISOString());
    if (changed) {
      return changed;
    }
  }
  throw new Error(`The manifest of ${taskId} kept changing. Try again.`);
}

/**
 * Records which directory a worktree is, once it was verified by its holder. One that lost the worktree meanwhile records
 * nothing: every change of hands changes the manifest.
 */
export async function recordIdentity(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  taskId: string,
  { identity, fence }: { identity: NonNullable<WorktreeRecord['identity']>; fence: Pick<Fence, 'holds'> },
): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (!record || unsettledStates.includes(record.state) || !(await fence.holds())) {
      return;
    }
    const { device, inode, born } = record.identity ?? {};
    if (device === identity.device && inode === identity.inode && born === identity.born) {
      return;
    }
    if (await deps.worktrees.change(record, { identity }, deps.now().toISOString())) {
      return;
    }
  }
  throw new Error(`The manifest of ${taskId} kept changing. Try again.`);
}

/** Records the directory of a run's worktree that was made again during the run: the next one would take it for another. */
export async function recordRemade(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  { taskId, taskEnvelope }: Pick<AttemptRecord, 'taskId' | 'taskEnvelope'>,
  fence: Pick<Fence, 'holds'>,
): Promise<void> {
  const identity = taskEnvelope?.workspace && remadeAt(taskEnvelope.workspace.path);
  if (identity) {
    await recordIdentity(deps, taskId, { identity, fence });
  }
}
