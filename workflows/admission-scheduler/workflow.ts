import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { SchedulerActivities } from '../../activities/scheduler';
import type { Turn } from '../../runs/admission/schedule';
import { look } from './messages';

/** Store work and signals: short, idempotent, repeated until the stores answer. */
const { dispatchQueued } = proxyActivities<SchedulerActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'hand out free capacity',
});

/**
 * Hands free capacity to queued launches, in order. Lives only while something is queued: whoever enqueues or
 * releases signals it with start, and a look that arrives while it closes makes it go on.
 *
 * @param turn the workspace whose turn it is
 */
export async function admissionScheduler(turn?: Turn): Promise<void> {
  let looks = 1;
  let next = turn;
  setHandler(look, () => {
    looks += 1;
  });
  for (;;) {
    // A lost signal cannot strand the queue, and changed settings and returning hosts are noticed: it looks by itself.
    await condition(() => looks > 0, '5 seconds');
    looks = 0;
    const looked = await dispatchQueued(next === undefined ? {} : { turn: next });
    next = looked.turn ?? next;
    // Signals may have arrived while the activity ran.
    if (looked.waiting === 0 && !hasLooks()) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof admissionScheduler>(next);
  }

  function hasLooks(): boolean {
    return looks > 0;
  }
}
