import type { AdmissionRequest } from './request';

/**
 * The lane of the queue that a launch waits in: with those that request as much, as urgently, in the same scopes. Capacity
 * remains for all of them or for none, but for the ceilings of their root tasks; so the first one stands for the others,
 * however many they are.
 */
export const laneOf = ({
  priority,
  workspaceId,
  provider,
  hostId,
  requested: { runs, processes, memoryMb },
}: Pick<AdmissionRequest, 'priority' | 'workspaceId' | 'provider' | 'hostId' | 'requested'>): string =>
  JSON.stringify([priority, workspaceId, provider, hostId, runs, processes, memoryMb]);
