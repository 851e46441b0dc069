import { condition, continueAsNew, patched, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { SchedulerActivities } from '../../activities/admission-scheduler/activities';
import type { WorkspaceTurn } from '../../domain/admission/schedule';
import { look } from './messages';

/** Store work and signals: short, idempotent, retried until the stores respond. */
const { dispatchQueued } = proxyActivities<SchedulerActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'assign free capacity',
});

/** Events of one execution: a worker that takes over replays them, and has five seconds for that however busy its machine is. */
const maxEvents = 1_000;

/**
 * Hands free capacity to queued launches, in order. Runs only while the queue has entries: an enqueue or a release signals it
 * with start, and a signal that arrives while it closes makes it continue.
 *
 * @param turn the workspace whose turn it is
 */
export async function admissionScheduler(turn?: WorkspaceTurn): Promise<void> {
  let looks = 1;
  let next = turn;
  setHandler(look, () => {
    looks += 1;
  });
  for (;;) {
    // A timer beside the signals: a lost signal cannot strand the queue, and changed settings and returning hosts are noticed.
    await condition(() => looks > 0, '5 seconds');
    looks = 0;
    const round = await dispatchQueued(next === undefined ? {} : { turn: next });
    next = round.turn ?? next;
    // Signals may have arrived while the activity ran.
    if (round.waiting === 0 && !hasLooks()) {
      return;
    }
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    if (continueAsNewSuggested || (historyLength >= maxEvents && patched('bounded-history'))) {
      await continueAsNew<typeof admissionScheduler>(next);
    }
  }

  function hasLooks(): boolean {
    return looks > 0;
  }
}
