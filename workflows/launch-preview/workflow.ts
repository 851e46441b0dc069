import { proxyActivities } from '@temporalio/workflow';
import type { LaunchRefusal } from '../../contracts/launch';
import type { LaunchPreview } from '../../contracts/launch-manifest';
import type { PrepareActivities, PreviewInput } from '../../activities/prepare';
import type { Signed } from '../message-proofs';
import { hostQueue } from '../queues';

/** Compiles a launch on the host that would run it, without an attempt. Someone waits for it: two tries, no more. */
export async function launchPreview(input: PreviewInput & Signed): Promise<LaunchPreview | LaunchRefusal> {
  const { preview } = proxyActivities<Pick<PrepareActivities, 'preview'>>({
    ...(input.hostId === null ? {} : { taskQueue: hostQueue(input.hostId) }),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'compile the contract',
  });
  return preview(input);
}
