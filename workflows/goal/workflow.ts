import { proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { GoalActivities } from '../../activities/goal/activities';
import { lookAtGoal } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const { settleGoal } = proxyActivities<GoalActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'count the runs of the goal',
});

const { dispatchContinuation } = proxyActivities<GoalActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'continue the goal',
});

/** Looks of one execution; what is due beyond them is found by the next one. */
const maxLooks = 100;

/**
 * Brings a goal up to date with its runs: counts those that have ended, changes its state, and launches the run that follows. Ends
 * when nothing is due; whatever happens to the goal then starts it again.
 */
export async function goal(goalId: string): Promise<void> {
  const signals = { looks: 1 };
  setHandler(lookAtGoal, () => {
    signals.looks += 1;
  });
  for (let count = 0; signals.looks > 0 && count < maxLooks; count += 1) {
    signals.looks = 0;
    const { state, continuationId } = await settleGoal({ goalId });
    setCurrentDetails(`The goal is ${state}.`);
    if (continuationId !== undefined) {
      await dispatchContinuation({ goalId, continuationId });
      signals.looks += 1;
    }
  }
}
