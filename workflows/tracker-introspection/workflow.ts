import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { IntrospectionActivities } from '../../activities/trackers/introspect';
import type { Refusal } from '../../contracts/refusal';
import { failedRefusal } from '../tracker-link/failed';
import type { TrackerIntrospectionInput } from './messages';

/** Has a worker read what a project of a tracker has. A caller waits for it: a tracker that asks to wait refuses it. */
export async function trackerIntrospection(input: TrackerIntrospectionInput): Promise<{ refused: Refusal | null }> {
  const { introspectTracker } = proxyActivities<IntrospectionActivities>({
    startToCloseTimeout: '4 minutes',
    scheduleToCloseTimeout: '5 minutes',
    heartbeatTimeout: input.heartbeatTimeoutMs,
    retry: {
      initialInterval: '500 milliseconds',
      maximumInterval: '10 seconds',
      maximumAttempts: 4,
      nonRetryableErrorTypes: ['TRACKER_RATE_LIMITED'],
    },
    summary: 'read the project of a tracker',
  });
  try {
    return await introspectTracker(input);
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
      return { refused: failedRefusal(error) };
    }
    throw error;
  }
}
