import { proxyActivities } from '@temporalio/workflow';
import type { PrepareActivities } from '../../activities/agent-run/prepare/activities';
import type { PlannedLocation } from '../../activities/agent-run/prepare/planned-location';
import type { Refusal } from '../../contracts/refusal';
import type { WorkspaceInventory } from '../../contracts/runs/trust';
import type { Signed } from '../message-proofs';
import { hostQueue } from '../queues';

export interface WorkspaceInventoryInput extends PlannedLocation, Signed {
  hostId: string | null;
}

/** Inspects what a workspace brings, on its host. A caller waits for it: two tries, no more. */
export async function workspaceInventory({
  hostId,
  ...place
}: WorkspaceInventoryInput): Promise<WorkspaceInventory | null | Refusal> {
  const { takeInventory } = proxyActivities<Pick<PrepareActivities, 'takeInventory'>>({
    ...(hostId === null ? {} : { taskQueue: hostQueue(hostId) }),
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    retry: { maximumAttempts: 2 },
    summary: 'inventory the workspace',
  });
  return takeInventory(place);
}
