import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, log, ParentClosePolicy, sleep } from '@temporalio/workflow';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { childOfTask, sibling } from '../sibling';
import { worktreeId, type WorktreeInput, type WorktreeOutcome } from './messages';
import { worktree } from './workflow';

/** Pauses while another operation runs, in milliseconds: some twenty seconds, then the operation is refused. */
export const pausesMs = [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000];

/** Runs an operation as a child, under the id that the endpoint uses too. @throws WorkflowExecutionAlreadyStartedError while another one runs */
export const executeWorktree = (input: WorktreeInput, staticSummary: string): Promise<WorktreeOutcome> =>
  executeChild(worktree, {
    workflowId: sibling(worktreeId(input.taskId)),
    workflowTaskTimeout,
    // Whatever becomes of its parent, an operation that has begun is brought to its end.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input],
    staticSummary,
    typedSearchAttributes: childOfTask(input.taskId),
  });

/**
 * Runs an operation through the workflow that the endpoint uses too, under the same id: an operation of another caller is waited
 * for.
 *
 * @returns `busy` when that took too long, `unknown` when an operator has terminated the operation
 */
export async function operateAsChild(
  input: WorktreeInput,
  staticSummary: string,
): Promise<WorktreeOutcome | 'busy' | 'unknown'> {
  const { taskId } = input;
  for (const pauseMs of pausesMs) {
    try {
      return await executeWorktree(input, staticSummary);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        log.warn('worktree operation did not finish', { taskId, actor: input.actor, error });
        return 'unknown';
      }
    }
    await sleep(pauseMs, { summary: 'wait for another worktree operation' });
  }
  return 'busy';
}
