import { proxyActivities } from '@temporalio/workflow';
import type { PlannedPlace } from '../../activities/planned-place';
import type { PrepareActivities } from '../../activities/prepare';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorkspaceInventory } from '../../contracts/workspace-trust';
import type { Signed } from '../message-proofs';
import { hostQueue } from '../queues';

export interface WorkspaceInventoryInput extends PlannedPlace, Signed {
  hostId: string | null;
}

/** Looks at what a workspace brings, on its host. Someone waits for it: two tries, no more. */
export async function workspaceInventory({
  hostId,
  ...place
}: WorkspaceInventoryInput): Promise<WorkspaceInventory | null | LaunchRefusal> {
  const { takeInventory } = proxyActivities<Pick<PrepareActivities, 'takeInventory'>>({
    ...(hostId === null ? {} : { taskQueue: hostQueue(hostId) }),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'look at what the workspace brings',
  });
  return takeInventory(place);
}
