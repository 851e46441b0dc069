import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeInspection, WorktreeOperation, WorktreeState } from '../../contracts/worktree';
import type { GitError } from '../../providers/git/git-error';
import { refusal } from '../../runs/refusal';
import type { WorktreeRecord } from '../../stores/worktree-store';
import { withHeartbeat } from '../heartbeat';
import type { WorktreeHostDependencies } from './dependencies';
import { gitFailure } from './git-failure';

export interface StepInput {
  taskId: string;
  operationId: string;
}

/**
 * The state after a step, with what is to be seen of the worktree where the step knows it anyhow; or why the operation
 * ended without what was asked for.
 */
export type StepResult = { state: WorktreeState; inspection?: WorktreeInspection } | LaunchRefusal;

/**
 * Runs one step of the operation the manifest is in the middle of. A step that an earlier try finished is not done
 * again: the manifest has moved on, and its state is the answer.
 */
export async function step(
  deps: WorktreeHostDependencies,
  { taskId, operationId }: StepInput,
  expected: WorktreeState | undefined,
  work: (record: WorktreeRecord, operation: WorktreeOperation) => Promise<StepResult>,
): Promise<StepResult> {
  const record = await deps.worktrees.get(taskId);
  if (!record) throw new Error(`The manifest of ${taskId} is missing from the stores.`);
  const { operation, state } = record;
  if (operation?.id !== operationId || (expected !== undefined && state !== expected)) return { state };
  try {
    return await withHeartbeat(() => work(record, operation));
  } catch (error) {
    throw gitFailure(error);
  }
}

/** What git refused, as the answer of an operation that has changed nothing. */
export const gitRefusal = (code: string, message: string, record: WorktreeRecord, error: GitError): LaunchRefusal =>
  refusal(code, 409, message, {
    taskId: record._id,
    reason: error.code,
    message: error.message,
    ...(error.paths.length > 0 ? { paths: error.paths } : {}),
  });
