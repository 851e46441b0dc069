import type { AdmissionRequest } from './request';

/**
 * The request of a launch that is the root of its own tree, for tests and benchmarks.
 *
 * @param fields what is different; its task, root task and tree follow from the attempt's id by default
 */
export function sampleRequest(attemptId: string, fields: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    version: 1,
    attemptId,
    taskId: attemptId,
    rootTaskId: attemptId,
    workspaceId: 'local',
    agent: 'a',
    provider: 'process',
    hostId: null,
    phase: 'implement',
    source: 'direct',
    edge: 'root',
    rootObjectiveId: attemptId,
    nodeId: attemptId,
    parentNodeId: null,
    depth: 0,
    priority: 1,
    requested: { runs: 1, processes: 1, memoryMb: 512 },
    requestedAt: new Date(0).toISOString(),
    ...fields,
  };
}
