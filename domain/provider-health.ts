import type { AgentConfig } from '../contracts/settings/agent-config';
import {
  type AgentSupportRow,
  maxProviderFailures,
  type ProviderHealth,
  providerHealth,
} from '../contracts/settings/agent-support';

const isUsable = ({ failureClass }: AgentSupportRow): boolean => failureClass === 'none';

function statusOf(enabled: number, probed: readonly AgentSupportRow[]): ProviderHealth['status'] {
  if (enabled === 0) {
    return 'unused';
  }
  if (probed.length === 0) {
    return 'unknown';
  }
  const usable = probed.filter(isUsable).length;
  return usable === probed.length ? 'healthy' : usable > 0 ? 'degraded' : 'unavailable';
}

/** The health of each provider, from the support of its agents on every host. */
export function providerHealthOf(agents: readonly AgentConfig[], rows: readonly AgentSupportRow[]): ProviderHealth[] {
  return providerHealth.shape.provider.options.map((provider) => {
    const configured = agents.filter((agent) => agent.provider === provider);
    const enabled = configured.filter((agent) => agent.enabled).map(({ type }) => type);
    const probed = rows.filter(({ agentType, checkedAt }) => checkedAt !== null && enabled.includes(agentType));
    return {
      provider,
      status: statusOf(enabled.length, probed),
      agents: { configured: configured.length, enabled: enabled.length },
      probes: {
        total: probed.length,
        usable: probed.filter(isUsable).length,
        openCircuits: probed.filter(({ circuit }) => circuit.state === 'open').length,
      },
      checkedAt:
        probed
          .map(({ checkedAt }) => checkedAt)
          .sort()
          .at(-1) ?? null,
      failures: probed
        .filter((row) => !isUsable(row))
        .slice(0, maxProviderFailures)
        .map(({ agentType, hostId, failureClass, reason, remediation }) => ({
          ...{ agentType, hostId, failureClass, reason, remediation },
        })),
    };
  });
}
