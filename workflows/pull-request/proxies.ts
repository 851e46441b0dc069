import { proxyActivities } from '@temporalio/workflow';
import type { PullRequestActivities } from '../../activities/pull-request/activities';
import type { PushActivities } from '../../activities/pull-request/push';
import { hostQueue } from '../queues';
import type { PullRequestInput } from './messages';

/** Work in the stores and the task file: retried until they respond. */
export const records = proxyActivities<Omit<PullRequestActivities, 'openPullRequest' | 'refreshPullRequest'>>({
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** Calls of the forge. One that does not respond for so long refuses the operation; what was pushed stays. */
export const forgeWithin = ({
  heartbeatTimeoutMs,
  isPolled,
}: Pick<PullRequestInput, 'heartbeatTimeoutMs' | 'isPolled'>) =>
  proxyActivities<Pick<PullRequestActivities, 'openPullRequest' | 'refreshPullRequest'>>({
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: isPolled ? '3 minutes' : '15 minutes',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: {
      initialInterval: '500 milliseconds',
      maximumInterval: '30 seconds',
      ...(isPolled ? { nonRetryableErrorTypes: ['FORGE_RATE_LIMITED'] } : {}),
    },
    summary: 'call the forge',
  });

/** Git's part, on the host of the worktree. */
export const pushOn = (hostId: string, heartbeatTimeoutMs: number) =>
  proxyActivities<PushActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '15 minutes',
    scheduleToCloseTimeout: '30 minutes',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
    summary: 'push the branch',
  });
