import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, log, ParentClosePolicy, sleep } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { worktreeId } from '../worktree/messages';
import { worktree } from '../worktree/workflow';
import type { AgentRunInput } from './messages';

/** Pauses while another operation runs on the worktree, in milliseconds: some twenty seconds, then the launch is refused. */
const pausesMs = [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000];

/**
 * Makes the worktree of the task through the workflow that the endpoint uses too, under the same id: an operation of another
 * caller is waited for. Returns why there is none, if so.
 */
export async function ensureWorktree(
  { taskId, attemptId, timings }: AgentRunInput,
  hostId: string,
): Promise<Refusal | undefined> {
  for (const pauseMs of pausesMs) {
    try {
      const outcome = await executeChild(worktree, {
        workflowId: worktreeId(taskId),
        workflowTaskTimeout,
        // Whatever becomes of the run, an operation that has begun is brought to its end.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [
          {
            taskId,
            actor: `run:${attemptId}`,
            request: { kind: 'create' },
            hostId,
            heartbeatTimeoutMs: timings.heartbeatTimeoutMs,
          },
        ],
        staticSummary: `create worktree of ${taskId}`,
        typedSearchAttributes: [{ key: searchAttributes.taskId, value: taskId }],
      });
      return outcome.status === 'refused' ? outcome : undefined;
    } catch (error) {
      // Terminated by an operator: the run inspects the worktree itself.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        log.warn('worktree operation did not finish', { taskId, attemptId, error });
        return undefined;
      }
    }
    await sleep(pauseMs, { summary: 'wait for another worktree operation' });
  }
  return undefined;
}
