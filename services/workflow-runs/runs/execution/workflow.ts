import { CancellationScope, condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RunStatus } from '../run';
import { SuspendedError } from './continuation';
import { conclude } from './lifecycle/conclude';
import { openExecution } from './lifecycle/open';
import { localActivities } from './lifecycle/proxies';
import { settle } from './lifecycle/settle';
import { walkToEnd } from './lifecycle/walk-to-end';
import { lookAgain, type RunInput } from './messages';

/**
 * Runs a graph from its start to an end. Everything callers read of it is written as it happens. When its history is long it
 * continues as new: what waits, waits again in the next execution.
 */
export async function workflowRun(input: RunInput): Promise<RunStatus> {
  const { startTime } = workflowInfo();
  const execution = openExecution(input);
  const { control, progress, scope, verify } = execution;
  if (input.state) {
    await verify('continue', input, startTime.getTime());
    await progress.loaded;
  } else {
    await verify('start', input, startTime.getTime());
  }
  // A cancel that came with the start is known for one before anything begins.
  if (control.verifying > 0) {
    await condition(() => control.verifying === 0);
  }
  let failure = control.cancelled ? undefined : await walkToEnd(execution);
  if (failure instanceof SuspendedError) {
    const next = await scope.run(() => settle(execution)).catch((error: unknown) => void (failure = error));
    if (next) {
      await continueAsNew<typeof workflowRun>(next);
    }
  }
  return CancellationScope.nonCancellable(() => conclude(execution, failure));
}

/**
 * Starts queued runs while there is capacity, oldest first. It waits for a while when idle: Temporal does not
 * start the same workflow again within a second.
 */
export async function workflowRunDispatch(idleMs: number): Promise<void> {
  let looks = 1;
  setHandler(lookAgain, () => void (looks += 1));
  do {
    looks = 0;
    await localActivities.startQueued();
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof workflowRunDispatch>(idleMs);
    }
  } while (await condition(() => looks > 0, Math.max(1, idleMs)));
}
