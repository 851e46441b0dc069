import type { Refusal } from '../../contracts/refusal';
import type { WorktreeInspection, WorktreeOperation, WorktreeState } from '../../contracts/runs/worktrees/worktree';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { runExclusive } from '../../platform/operations/keyed-mutex';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Git } from '../../providers/git/git';
import type { GitError } from '../../providers/git/git-error';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { gitFailure } from './git-failure';
import { movedMeanwhile, settle, type Settlement } from './record';
import { replacedRefusal, replacedState } from './replaced';

export interface StepInput {
  taskId: string;
  operationId: string;
}

/**
 * The state after a step, with the inspection of the worktree where the step has it anyhow; or why the operation ended without
 * its result.
 */
export type StepResult = { state: WorktreeState; inspection?: WorktreeInspection } | Refusal;

/**
 * Runs one step of the manifest's operation, with a git that stops once another worker runs the step. A step that an earlier
 * try finished is not done again: the manifest has moved on, and its state is the result.
 */
export async function step(
  deps: WorktreeHostDependencies,
  { taskId, operationId, expected }: StepInput & { expected?: WorktreeState | undefined },
  work: (record: WorktreeRecord, operation: WorktreeOperation, git: Git) => Promise<StepResult>,
): Promise<StepResult> {
  const taken = async (): Promise<StepResult> => {
    const record = await deps.worktrees.get(taskId);
    if (!record) {
      throw new Error(`The manifest of ${taskId} is missing from the stores.`);
    }
    const { operation, state } = record;
    if (operation?.id !== operationId) {
      return answeredBefore(record, operationId);
    }
    if (expected !== undefined && state !== expected) {
      return { state };
    }
    const fence = await deps.fences.take(taskId, { operationId });
    // It has ended between the two reads, maybe by the worker that resumed it.
    if (!fence) {
      throw movedMeanwhile(taskId);
    }
    return work(record, operation, deps.git.under(fence));
  };
  try {
    return await withHeartbeat(() => runExclusive(`worktree/${taskId}`, taken));
  } catch (error) {
    throw gitFailure(error);
  }
}

/** How an operation ended that is over already: the response was lost on its way. */
export function answeredBefore(record: WorktreeRecord, operationId: string): StepResult {
  const ended = record.history.findLast((entry) => entry.operationId === operationId);
  if (ended?.result !== 'failed') {
    return { state: record.state };
  }
  const { code, message } = ended.refusal ?? { code: 'WORKTREE_OPERATION_FAILED', message: 'The operation failed.' };
  return refusal(code, message, {
    taskId: record._id,
    ...compact({ reason: ended.code }),
  });
}

/** Ends an operation without its result. The refusal is stored, for a caller who repeats the request because it was lost. */
export async function refuse(
  deps: WorktreeHostDependencies,
  refused: Refusal,
  { record, operation, state, entry, fields }: Settlement & { record: WorktreeRecord },
): Promise<Refusal> {
  const { code, message } = refused;
  await settle(deps, record, {
    operation,
    state,
    entry: { ...entry, result: 'failed', refusal: { code, message } },
    ...compact({ fields }),
  });
  return refused;
}

/** A refusal by git, as the response of an operation that has changed nothing. */
export const gitRefusal = (
  code: string,
  message: string,
  { record, error }: { record: WorktreeRecord; error: GitError },
): Refusal =>
  refusal(code, message, {
    taskId: record._id,
    reason: error.code,
    message: error.message,
    ...(error.paths.length > 0 ? { paths: error.paths } : {}),
  });

/** Ends an operation on a worktree that something else has replaced; nothing there was touched. */
export function lost(
  deps: WorktreeHostDependencies,
  at: { record: WorktreeRecord; operation: WorktreeOperation },
  error: GitError,
): Promise<StepResult> {
  const fields = replacedState(at.record, error, deps.now());
  const refused = replacedRefusal(at.record, error);
  return refuse(deps, refused, { ...at, state: 'failed', entry: { code: error.code, reason: error.message }, fields });
}
