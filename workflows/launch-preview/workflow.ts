import { proxyActivities } from '@temporalio/workflow';
import type { PrepareActivities, PreviewInput } from '../../activities/agent-run/prepare/activities';
import type { Refusal } from '../../contracts/refusal';
import type { LaunchPreview } from '../../contracts/runs/launch/manifest';
import type { Signed } from '../message-proofs';
import { hostQueue } from '../queues';

/** Compiles a launch on the host that would run it, without an attempt. A caller waits for it: two tries, no more. */
export async function launchPreview(input: PreviewInput & Signed): Promise<LaunchPreview | Refusal> {
  const { preview } = proxyActivities<Pick<PrepareActivities, 'preview'>>({
    ...(input.hostId === null ? {} : { taskQueue: hostQueue(input.hostId) }),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'compile the run contract',
  });
  return preview(input);
}
