import type { LaunchRefusal } from '../../contracts/launch';
import type {
  WorktreeHistoryEntry,
  WorktreeInspection,
  WorktreeOperation,
  WorktreeState,
} from '../../contracts/worktree';
import type { Git } from '../../providers/git/git';
import type { GitError } from '../../providers/git/git-error';
import { refusal } from '../../runs/refusal';
import type { WorktreeChange, WorktreeRecord } from '../../stores/worktree-store';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import { inTurn } from '../in-turn';
import type { WorktreeHostDependencies } from './dependencies';
import { gitFailure } from './git-failure';
import { movedMeanwhile, settle } from './record';

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
 * Runs one step of the operation the manifest is in the middle of, with a git that stops once another worker does that. A step that an earlier try finished is not done
 * again: the manifest has moved on, and its state is the answer.
 */
export async function step(
  deps: WorktreeHostDependencies,
  { taskId, operationId }: StepInput,
  expected: WorktreeState | undefined,
  work: (record: WorktreeRecord, operation: WorktreeOperation, git: Git) => Promise<StepResult>,
): Promise<StepResult> {
  const taken = async (): Promise<StepResult> => {
    const record = await deps.worktrees.get(taskId);
    if (!record) throw new Error(`The manifest of ${taskId} is missing from the stores.`);
    const { operation, state } = record;
    if (operation?.id !== operationId) return answeredBefore(record, operationId);
    if (expected !== undefined && state !== expected) return { state };
    const fence = await deps.fences.take(taskId, { operationId });
    // It has ended between the two looks, by whoever goes on with it as well.
    if (!fence) throw movedMeanwhile(taskId);
    return work(record, operation, deps.git.under(fence));
  };
  try {
    return await withHeartbeat(() => inTurn(`worktree/${taskId}`, taken));
  } catch (error) {
    throw gitFailure(error);
  }
}

/** How an operation ended that is over already: the answer was lost on its way. */
export function answeredBefore(record: WorktreeRecord, operationId: string): StepResult {
  const ended = record.history.findLast((entry) => entry.operationId === operationId);
  if (ended?.result !== 'failed') return { state: record.state };
  const { code, message } = ended.refusal ?? { code: 'WORKTREE_OPERATION_FAILED', message: 'The operation failed.' };
  return refusal(code, 409, message, {
    taskId: record._id,
    ...(ended.code === undefined ? {} : { reason: ended.code }),
  });
}

/** Ends an operation without what was asked for. The answer is kept, for whoever asks again because it was lost. */
export async function refuse(
  deps: WorktreeHostDependencies,
  { record, operation }: { record: WorktreeRecord; operation: WorktreeOperation },
  state: WorktreeState,
  refused: LaunchRefusal,
  { entry, fields }: { entry: Partial<WorktreeHistoryEntry>; fields?: WorktreeChange },
): Promise<LaunchRefusal> {
  const { code, message } = refused;
  await settle(deps, record, operation, state, {
    entry: { ...entry, result: 'failed', refusal: { code, message } },
    ...(fields ? { fields } : {}),
  });
  return refused;
}

/** What git refused, as the answer of an operation that has changed nothing. */
export const gitRefusal = (code: string, message: string, record: WorktreeRecord, error: GitError): LaunchRefusal =>
  refusal(code, 409, message, {
    taskId: record._id,
    reason: error.code,
    message: error.message,
    ...(error.paths.length > 0 ? { paths: error.paths } : {}),
  });
