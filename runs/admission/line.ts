import type { AdmissionRequest } from './request';

/**
 * The line of the queue that a launch stands in: with those that ask for as much, as urgently, in the same place. For
 * all of them there is room or there is none, but for the ceilings of their root tasks; so the first one speaks for
 * the others, however many they are.
 */
export const lineOf = ({
  priority,
  workspaceId,
  provider,
  hostId,
  requested: { runs, processes, memoryMb },
}: Pick<AdmissionRequest, 'priority' | 'workspaceId' | 'provider' | 'hostId' | 'requested'>): string =>
  JSON.stringify([priority, workspaceId, provider, hostId, runs, processes, memoryMb]);
