import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, log, ParentClosePolicy, sleep } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { childOfTask, sibling } from '../sibling';
import { pausesMs } from '../worktree/child';
import { pullRequestId, type PullRequestInput, type PullRequestOutcome } from './messages';
import { pullRequest } from './workflow';

const execute = (input: PullRequestInput, staticSummary: string): Promise<PullRequestOutcome> =>
  executeChild(pullRequest, {
    workflowId: sibling(pullRequestId(input.taskId)),
    workflowTaskTimeout,
    // Whatever becomes of its parent, an operation that has begun is brought to its end.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input],
    staticSummary,
    typedSearchAttributes: childOfTask(input.taskId),
  });

/**
 * Runs an operation on the pull request of a task through the workflow that the endpoint uses too, under the same id: what was
 * requested before is waited for, or brought to its end where its workflow is lost.
 *
 * @param request writes the operation into the stores, and returns the one that is to be carried out now
 * @returns why it was refused, `null` when it is done; `busy` when others took too long, `unknown` when an operator has terminated it
 */
export async function pullRequestAsChild(
  input: PullRequestInput,
  staticSummary: string,
  request: () => Promise<{ operationId: string }>,
): Promise<Refusal | null | 'busy' | 'unknown'> {
  for (const pauseMs of pausesMs) {
    const { operationId } = await request();
    try {
      const outcome = await execute({ ...input, operationId }, staticSummary);
      if (operationId === input.operationId && outcome.refused?.code !== 'PULL_REQUEST_SUPERSEDED') {
        return outcome.refused;
      }
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        log.warn('pull request operation did not finish', { taskId: input.taskId, operationId, error });
        return 'unknown';
      }
    }
    await sleep(pauseMs, { summary: 'wait for another operation on the pull request' });
  }
  return 'busy';
}
