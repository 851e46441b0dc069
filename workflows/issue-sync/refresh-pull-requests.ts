import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, isCancellation, log, ParentClosePolicy } from '@temporalio/workflow';
import type { RoundFailure } from '../../activities/issue-sync/activities';
import type { OperationRef } from '../../activities/pull-request/record';
import type { Refusal } from '../../contracts/refusal';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { pullRequestId } from '../pull-request/messages';
import { pullRequest } from '../pull-request/workflow';
import { childOfTask, sibling } from '../sibling';

/** Refreshes that run at a time. */
const groupSize = 5;

/** What is wrong with the forge or its credential, and so with every pull request of the repository. */
const ofRepository = new Set([
  ...['FORGE_RATE_LIMITED', 'FORGE_UNAVAILABLE', 'FORGE_UNAUTHORIZED', 'FORGE_MOVED', 'FORGE_REFUSED_ADDRESS'],
  ...['FORGE_NOT_CONFIGURED', 'FORGE_CREDENTIAL_MISSING'],
]);

/** Runs the refreshes that were requested, a few at a time. @returns why the others are left for a later round, if they are */
export async function refreshPullRequests(
  due: readonly OperationRef[],
  heartbeatTimeoutMs: number,
): Promise<RoundFailure | undefined> {
  for (let start = 0; start < due.length; start += groupSize) {
    const group = due.slice(start, start + groupSize);
    const refusals = await Promise.all(group.map((ref) => refresh(ref, heartbeatTimeoutMs)));
    const refused = refusals.find((one) => one !== null && ofRepository.has(one.code));
    if (refused) {
      const { code, message, details } = refused;
      const wait = typeof details.retryAfterMs === 'number' ? { retryAfterMs: details.retryAfterMs } : {};
      return { status: 'failed', code, message, ...wait };
    }
  }
  return undefined;
}

/** One refresh, as the workflow that a request of a person is too; another operation on the pull request is not waited for. */
async function refresh({ taskId, operationId }: OperationRef, heartbeatTimeoutMs: number): Promise<Refusal | null> {
  try {
    const { refused } = await executeChild(pullRequest, {
      workflowId: sibling(pullRequestId(taskId)),
      workflowTaskTimeout,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [{ taskId, operationId, heartbeatTimeoutMs, isPolled: true }],
      staticSummary: `refresh the pull request of ${taskId}`,
      typedSearchAttributes: childOfTask(taskId),
    });
    if (refused) {
      log.warn('pull request refresh refused', { taskId, code: refused.code });
    }
    return refused;
  } catch (error) {
    if (isCancellation(error)) {
      throw error;
    }
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      log.warn('pull request refresh did not finish', { taskId, error });
    }
    return null;
  }
}
