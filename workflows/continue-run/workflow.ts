import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ContinueRunActivities } from '../../activities/continue-run/activities';
import type { ContinueRunInput } from './messages';

const { dispatchRunContinuation } = proxyActivities<ContinueRunActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'continue the run',
});

/** Launches what the watcher has planned for a run that ended, once. */
export async function continueRun(input: ContinueRunInput): Promise<string> {
  const outcome = await dispatchRunContinuation(input);
  setCurrentDetails(outcome);
  return outcome;
}
