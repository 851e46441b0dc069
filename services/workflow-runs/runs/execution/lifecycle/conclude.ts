import { allHandlersFinished, condition, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { RunStatus } from '../../run';
import { runHooks } from '../../stages/hooks';
import { stagesUnderWay } from '../cursor';
import { reasonOf, RunFailedError } from '../run-failed';
import type { Execution } from './open';
import { cancelChildRuns, deleteContinuation } from './proxies';

type EndStatus = Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>;

/**
 * Ends a run: its child runs, its hooks, its record, and what waits for it.
 *
 * @param failure why it came to no end of its graph, if it did not
 */
export async function conclude(execution: Execution, failure: unknown): Promise<EndStatus> {
  const { control, progress, activities, continuation, ending, run } = execution;
  const { runId, tree, state, hooks } = execution.input;
  if (progress.hasChildren) {
    await cancelChildRuns({ runId }).catch(() => undefined);
  }
  const isLate = control.timedOut && !control.cancelled && isCancellation(failure);
  const cause = isLate ? new RunFailedError('The time that its budget allows is over.') : failure;
  if (hooks && cause && !control.cancelled && !isCancellation(cause)) {
    const reason = reasonOf(cause);
    await ending.run(() => runHooks({ event: 'run_failed', failure: reason }, run)).catch(() => undefined);
  }
  const status = control.cancelled || isCancellation(cause) ? 'cancelled' : cause ? 'failed' : 'completed';
  const message = cause instanceof Error ? cause.message : 'It failed.';
  recordEnd(execution, status, message);
  await progress.flush();
  control.suspended = false;
  control.ended = true;
  setCurrentDetails(status === 'failed' ? `Failed: ${message}` : `The run is ${status}.`);
  await activities.runEnded();
  if (tree) {
    await activities.reportToParent({ runId });
  }
  // One that was about to continue may have stored its state as well.
  if (state || continuation.isDue) {
    await deleteContinuation({ runId });
  }
  await condition(allHandlersFinished);
  return status;
}

function recordEnd({ progress, startedAt, setupState, cursor }: Execution, status: EndStatus, message: string): void {
  const endedAt = new Date();
  const duration_ms = endedAt.getTime() - startedAt.getTime();
  // Those that wait while the execution was about to continue.
  const underWay = [...(setupState.underWay ? [setupState.underWay.stage] : []), ...stagesUnderWay(cursor)];
  underWay.forEach((stage) => progress.endStage(stage, 'cancelled'));
  progress.withdrawAll();
  progress.change({
    ...{ status, ended_at: endedAt.toISOString() },
    ...(status === 'failed' ? { error: { message } } : {}),
  });
  if (status === 'completed') {
    progress.record({ RunCompleted: { duration_ms } }, 'run');
  } else if (status === 'failed') {
    progress.record({ RunFailed: { duration_ms, error: message } }, 'run');
  } else {
    progress.record({ RunCancelled: { duration_ms } }, 'run');
  }
}
