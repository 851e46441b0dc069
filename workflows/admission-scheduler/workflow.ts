import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { SchedulerActivities } from '../../activities/scheduler';
import { look } from './messages';

/** Store work and signals: short, idempotent, repeated until the stores answer. */
const { dispatchQueued } = proxyActivities<SchedulerActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Hands free capacity to queued launches, in order. Lives only while something is queued: whoever enqueues or
 * releases signals it with start, and a look that arrives while it closes makes it go on.
 */
export async function admissionScheduler(): Promise<void> {
  let looks = 1;
  setHandler(look, () => {
    looks += 1;
  });
  for (;;) {
    // A lost signal cannot strand the queue: the timer looks again by itself.
    await condition(() => looks > 0, '30 seconds');
    looks = 0;
    const { waiting } = await dispatchQueued();
    // Signals may have arrived while the activity ran.
    if (waiting === 0 && !hasLooks()) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof admissionScheduler>();
  }

  function hasLooks(): boolean {
    return looks > 0;
  }
}
