import type { LaunchRefusal } from '../../contracts/launch';
import { unsettledStates } from '../../contracts/worktree';
import type { Fence } from '../../providers/git/fence';
import type { GitError } from '../../providers/git/git-error';
import { refusal } from '../../runs/refusal';
import type { WorktreeChange, WorktreeRecord, WorktreeStore } from '../../stores/worktree-store';

/** The code of a manifest whose worktree is lost: something else was put in its place. */
export const worktreeReplaced = 'WORKTREE_REPLACED';

const advice = (taskId: string): string =>
  `Nothing there was touched. Look at it; then an administrator can remove it with DELETE /api/tasks/${taskId}/worktree` +
  '?force=true&reason=…, which moves aside what is there and keeps the branch, and it can be created again.';

/** What the manifest of such a worktree says. */
export const replacedState = ({ path }: WorktreeRecord, error: GitError, now: Date): WorktreeChange => ({
  state: 'failed',
  recoverable: { code: worktreeReplaced, message: error.message, path, at: now.toISOString() },
});

export const replacedRefusal = ({ _id, path }: WorktreeRecord, error: GitError): LaunchRefusal =>
  refusal(worktreeReplaced, 409, `${error.message} ${advice(_id)}`, { taskId: _id, path });

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
    if (record?.state !== 'ready') return record;
    const now = deps.now();
    const changed = await deps.worktrees.change(record, replacedState(record, error, now), now.toISOString());
    if (changed) return changed;
  }
  throw new Error(`The manifest of ${taskId} kept changing.`);
}

/**
 * Records which directory a worktree is, once it was verified by its holder. One that lost the worktree meanwhile records
 * nothing: every change of hands changes the manifest.
 */
export async function recordIdentity(
  deps: { worktrees: Pick<WorktreeStore, 'get' | 'change'>; now(): Date },
  taskId: string,
  identity: NonNullable<WorktreeRecord['identity']>,
  fence: Pick<Fence, 'holds'>,
): Promise<void> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const record = await deps.worktrees.get(taskId);
    if (!record || unsettledStates.includes(record.state) || !(await fence.holds())) return;
    const { device, inode, born } = record.identity ?? {};
    if (device === identity.device && inode === identity.inode && born === identity.born) return;
    if (await deps.worktrees.change(record, { identity }, deps.now().toISOString())) return;
  }
  throw new Error(`The manifest of ${taskId} kept changing.`);
}
