import { proxyActivities } from '@temporalio/workflow';
import type { ToolDiscoveryActivities } from '../../activities/tool-discovery/activities';
import type { ToolDiscovery } from '../../contracts/integrations/tool-server';
import type { Refusal } from '../../contracts/refusal';
import { hostQueue } from '../queues';
import type { ToolDiscoveryInput } from './messages';

/**
 * Has a host start a tool server and list its tools. When the worker dies meanwhile, another worker of the host does it again: what
 * was started has ended with the first one.
 */
export async function toolDiscovery(input: ToolDiscoveryInput): Promise<ToolDiscovery | Refusal> {
  const { heartbeatTimeoutMs, ...discovered } = input;
  const { discoverTools } = proxyActivities<ToolDiscoveryActivities>({
    taskQueue: hostQueue(input.hostId),
    // The longest start, with what ends a server that does not end by itself.
    startToCloseTimeout: '5 minutes',
    scheduleToStartTimeout: '1 minute',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { maximumAttempts: 3, initialInterval: '1 second' },
    summary: 'discover the tools',
  });
  return discoverTools(discovered);
}
