import { ActivityCancellationType, CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HookActivities, HookRun } from '../../activities/deliver-hooks/activities';
import { endOfAttempts, settlesAfterAttempts } from '../end-of-attempts';
import type { DeliverHooksInput } from './messages';

const { hooksFor, giveUpHook } = proxyActivities<Pick<HookActivities, 'hooksFor' | 'giveUpHook'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** Runs every hook for a transition of a task; one that fails prevents no other. */
export async function deliverHooks({ id, context, proof, timings }: DeliverHooksInput): Promise<{ hooks: number }> {
  const hooks = await hooksFor({ id, context, proof });
  setCurrentDetails(`${context.event} of ${context.taskId}: ${hooks.length} hooks.`);
  const { firstPauseMs, longestPauseMs, giveUpAfterMs } = timings;
  await Promise.all(
    hooks.map(async ({ id: hookId, name }) => {
      const { runHook } = proxyActivities<Pick<HookActivities, 'runHook'>>({
        startToCloseTimeout: '30 seconds',
        scheduleToCloseTimeout: giveUpAfterMs,
        retry: { initialInterval: firstPauseMs, maximumInterval: longestPauseMs },
        cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary: `hook ${name}`,
      });
      const run: HookRun = { id, executionId: `${id}/${hookId}`, hookId, context, proof };
      try {
        await endOfAttempts(runHook(run));
      } catch {
        // An operator's "cancel" in the Temporal UI does not leave an execution without an end.
        const giveUp = () => giveUpHook(run.executionId);
        await (settlesAfterAttempts() ? CancellationScope.nonCancellable(giveUp) : giveUp());
      }
    }),
  );
  return { hooks: hooks.length };
}
