import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { RewindActivities, RewindMessageActivities } from '../../activities/workspace-rewind/activities';
import { hostQueue } from '../queues';
import type { RewindCommitInput, RewindOutcome, RewindPlanInput } from './messages';

/** Git work on the host that has the worktree: every step can be repeated. */
const rewindOn = (hostId: string) =>
  proxyActivities<RewindActivities>({
    taskQueue: hostQueue(hostId),
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '1 hour',
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
    summary: 'rewind the worktree',
  });

const { tellAgent } = proxyActivities<RewindMessageActivities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '5 minutes',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
  summary: 'notify the agent',
});

/** Inspects the worktree on its host and records what a rewind would do. */
export function workspaceRewindPlan(input: RewindPlanInput): Promise<RewindOutcome> {
  return rewindOn(input.hostId).planRewind(input);
}

/**
 * Takes a worktree back as it was planned and approved, if it is exactly what it was then. Once it has begun it is
 * brought to its end, also after an operator's cancel: no worktree stays halfway.
 */
export async function workspaceRewind({ hostId, ...input }: RewindCommitInput): Promise<RewindOutcome> {
  return CancellationScope.nonCancellable(async () => {
    const host = rewindOn(hostId);
    const begun = await host.beginRewind(input);
    if (begun.status === 'refused') {
      return begun;
    }
    const done = await host.applyRewind(input);
    if (done.status === 'committed') {
      await tellAgent(input).catch(() => undefined);
    }
    return done;
  });
}
