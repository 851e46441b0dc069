import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ParentClosePolicy,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { RecoveryActivities } from '../../activities/recovery/activities';
import type { RunRecovery } from '../../contracts/runs/recovery';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { agentRunId, staleAttempt } from '../agent-run/messages';
import { agentRun } from '../agent-run/workflow';
import { reject } from '../reject';
import { ownWorkspace, sibling } from '../sibling';
import { requireProof, verified } from '../unproven';
import { type CancelRecoveryInput, cancelRecoveryUpdate, type RecoveryInput } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyActivities<RecoveryActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * What follows an attempt that failed: waits its time, then launches the next one. Until then it can be cancelled, by exactly
 * that attempt's id; the record in the stores decides which came first.
 */
export async function recovery(input: RecoveryInput): Promise<void> {
  const state = { cancelled: false };
  const cancel = async (asked: Omit<CancelRecoveryInput, 'attemptId'>): Promise<RunRecovery | null> => {
    const answer = await verified(records.cancelRecovery({ ...asked, attemptId: input.attemptId }));
    if (answer?.state === 'cancelled') {
      state.cancelled = true;
    }
    return answer;
  };
  setHandler(cancelRecoveryUpdate, (asked) => CancellationScope.nonCancellable(() => cancel(asked)), {
    validator: (asked: CancelRecoveryInput) => {
      requireProof(asked);
      if (asked.attemptId === input.attemptId) {
        return;
      }
      reject(staleAttempt, `This recovery is of ${input.attemptId}.`);
    },
  });
  // An operator's "cancel" in the Temporal UI is a cancellation like any other.
  CancellationScope.current().cancelRequested.catch(() => {
    void CancellationScope.nonCancellable(() => cancel({ actor: 'operator:temporal' }));
  });
  return CancellationScope.nonCancellable(async () => {
    setCurrentDetails(`Launches ${input.next.attemptId} in ${input.backoffMs} ms.`);
    // A timer takes a second however short it is set. Earlier versions set one nevertheless.
    if (input.backoffMs > 0 || !patched('recovery-at-once')) {
      await condition(() => state.cancelled, input.backoffMs);
    }
    const isLaunched = !state.cancelled && (await records.beginRecovery({ attemptId: input.attemptId }));
    if (isLaunched) {
      await launch(input);
    }
    setCurrentDetails(isLaunched ? `Launched ${input.next.attemptId}.` : 'Cancelled.');
    await condition(allHandlersFinished);
  });
}

/** Starts the next attempt as a workflow of its own, which continues when this one ends. */
async function launch({ attemptId, next }: RecoveryInput): Promise<void> {
  const started = startChild(agentRun, {
    workflowId: sibling(agentRunId(next.attemptId)),
    workflowTaskTimeout,
    // Another recovery of the same attempt, started when this one seemed lost, may have been first.
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [next],
    staticSummary: `retry ${next.retry?.retryNumber ?? 0} of ${attemptId}`,
    typedSearchAttributes: [
      { key: searchAttributes.taskId, value: next.taskId },
      { key: searchAttributes.attemptId, value: next.attemptId },
      { key: searchAttributes.workspaceId, value: ownWorkspace() },
      { key: searchAttributes.rootObjectiveId, value: next.taskId },
      { key: searchAttributes.runState, value: 'admitting' },
    ],
  });
  await started.catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      throw error;
    }
  });
}
