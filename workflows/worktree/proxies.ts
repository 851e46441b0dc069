import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BeginWorktreeActivities } from '../../activities/worktree/begin/begin';
import type { NewWorktreeActivities } from '../../activities/worktree/create';
import type { WorktreePlanActivities } from '../../activities/worktree/plan';
import type { DiffActivities } from '../../activities/worktree/reading/read-diff';
import type { WorktreeStepActivities } from '../../activities/worktree/steps';
import type { WorktreeViewActivities } from '../../activities/worktree/view';
import { hostQueue } from '../queues';

/** Store work: short, idempotent, retried until the stores respond. */
const store = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
} as const;
export const records = proxyActivities<Pick<WorktreePlanActivities, 'recordInterruption'>>({
  ...store,
  summary: 'record the interruption',
});
/** Inside the workflow's worker, which saves a waiting caller a round trip. */
export const planning = proxyLocalActivities<Pick<WorktreePlanActivities, 'planWorktree' | 'verifyOperation'>>(store);

/** Git's part of an operation: idempotent, so it is retried until the host responds or its error is permanent. */
const git = (hostId: string, heartbeatTimeoutMs: number) => ({
  taskQueue: hostQueue(hostId),
  // A fetch or a push of a large repository.
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: heartbeatTimeoutMs,
  retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' } as const,
});

/** Deciding and recording; nothing has been done when the host stays unavailable for ten minutes. */
export const beginOn = (hostId: string, heartbeatTimeoutMs: number) =>
  proxyActivities<BeginWorktreeActivities>({
    ...git(hostId, heartbeatTimeoutMs),
    scheduleToCloseTimeout: '10 minutes',
    summary: 'plan the operation',
  });

/** Both for a new worktree, whose checkout may take long once a host has begun. */
export const createOn = (hostId: string, heartbeatTimeoutMs: number) =>
  proxyActivities<NewWorktreeActivities>({
    ...git(hostId, heartbeatTimeoutMs),
    scheduleToStartTimeout: '10 minutes',
    scheduleToCloseTimeout: '1 hour',
    summary: 'create the worktree',
  });

/** Doing what was recorded. A host that is unavailable for an hour leaves the operation to be resumed. */
export const stepsOn = (hostId: string, heartbeatTimeoutMs: number) =>
  proxyActivities<WorktreeStepActivities>({
    ...git(hostId, heartbeatTimeoutMs),
    scheduleToCloseTimeout: '1 hour',
    summary: 'run the planned operation',
  });

/** An inspection changes nothing, and a caller waits for it. */
export const viewOn = (hostId: string) =>
  proxyActivities<Pick<WorktreeViewActivities, 'inspect'>>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '15 seconds',
    scheduleToStartTimeout: '5 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'inspect the worktree',
  });

/** A query for a diff changes nothing, and a caller waits for it. */
export const readDiffOn = (hostId: string) =>
  proxyActivities<DiffActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '20 seconds',
    scheduleToStartTimeout: '5 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'read the diff',
  });

/** Opening a program is not repeated. */
export const openOn = (hostId: string) =>
  proxyActivities<Pick<WorktreeViewActivities, 'openEditor'>>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '15 seconds',
    scheduleToStartTimeout: '5 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'open the editor',
  });
