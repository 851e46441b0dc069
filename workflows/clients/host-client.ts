import { localWorkspace } from '../../contracts/common';
import { callNexus, NexusNotServedError, type NexusServer } from '../../platform/temporal/nexus-client';
import { type HostOperations, hostService, type OfWorkspace } from '../host-service';

/**
 * Queries a host, without a change to anything.
 *
 * @param options.taskQueue the queue whose pollers serve the query
 * @param options.withinMs how long the response may take, in milliseconds
 * @throws NexusNotServedError where Nexus is not served, and a workflow must be used instead; NexusFailedError when there is no
 *   response
 */
export type HostClient = <Q extends keyof HostOperations>(
  operation: Q,
  options: { taskQueue: string; input: HostOperations[Q]['input']; withinMs: number },
) => Promise<HostOperations[Q]['response']>;

/**
 * @param server `undefined` where the HTTP API of the Temporal server is not configured: no query is possible then
 * @param workspaceId the workspace whose queries these are
 */
export function createHostClient(server: NexusServer | undefined, workspaceId: string): HostClient {
  return async (operation, { input: own, ...options }) => {
    const input: OfWorkspace<typeof own> = workspaceId === localWorkspace ? own : { ...own, workspaceId };
    if (!server) {
      throw new NexusNotServedError('TEMPORAL_HTTP_ADDRESS is not set.');
    }
    return callNexus(server, { service: hostService, operation: operation, input, ...options });
  };
}
