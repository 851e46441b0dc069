import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HookActivities, HookRun } from '../../activities/deliver-hooks/activities';
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
        summary: `hook ${name}`,
      });
      const run: HookRun = { id, executionId: `${id}/${hookId}`, hookId, context, proof };
      try {
        await runHook(run);
      } catch {
        await giveUpHook(run.executionId);
      }
    }),
  );
  return { hooks: hooks.length };
}
