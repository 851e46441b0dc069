import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ChildRunActivities } from '../../children/activities';
import type { RunActivities } from '../activities';

export type LocalActivities = Omit<RunActivities, 'runPrompt' | 'deleteContinuation'> &
  Pick<ChildRunActivities, 'reportToParent' | 'readTreeUsage' | 'readChildRun'>;

/** Store work and a signal: short, repeatable, and not worth a round trip by way of the queue. */
export const localActivities = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

export const { deleteContinuation } = proxyActivities<Pick<RunActivities, 'deleteContinuation'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'delete the continuation',
});

export const { pauseChildRuns, cancelChildRuns, steerChildRuns } = proxyActivities<
  Pick<ChildRunActivities, 'pauseChildRuns' | 'cancelChildRuns' | 'steerChildRuns'>
>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  // What is not reached in this time is cancelled when runs are reconciled.
  scheduleToCloseTimeout: '10 minutes',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});
