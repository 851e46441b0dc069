import type { ToolServerDefinition, ToolServerView } from '../../../contracts/integrations/tool-server';
import { compact } from '../../../platform/json/compact';
import type { ToolDiscoveryStore } from '../../../stores/integrations/tool-discovery-store';

/** A definition with what was discovered last of exactly this definition on each host. */
export async function withHealth(
  discoveries: Pick<ToolDiscoveryStore, 'ofDefinition'>,
  definition: ToolServerDefinition,
): Promise<ToolServerView> {
  const hosts = (await discoveries.ofDefinition(definition.digest))
    .map(({ hostId, state, server, tools, error, discoveredAt }) => ({
      hostId,
      state,
      server,
      toolCount: tools.length,
      checkedAt: discoveredAt,
      ...compact({ error }),
    }))
    .sort((a, b) => (a.hostId < b.hostId ? -1 : 1));
  return { ...definition, health: { state: stateOf(hosts), hosts } };
}

function stateOf(hosts: readonly { state: 'ready' | 'failed' }[]): ToolServerView['health']['state'] {
  if (hosts.length === 0) {
    return 'unknown';
  }
  const failed = hosts.filter(({ state }) => state === 'failed').length;
  if (failed === 0) {
    return 'ready';
  }
  return failed === hosts.length ? 'failed' : 'degraded';
}
