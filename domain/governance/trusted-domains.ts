import type { AgentPermission } from '../../contracts/governance/agent-permission';

/** What an action reaches over the network; without a host, it does not say which. */
export interface Reached {
  host?: string | undefined;
}

/** The name without the port, as both a URL and the stored domains write it. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '');

const isIn = (name: string, domain: string): boolean =>
  domain.startsWith('*.') ? name.endsWith(domain.slice(1).toLowerCase()) : name === domain.toLowerCase();

/**
 * Why an agent may not reach a host without an approval; nothing where it may. An agent without trusted domains is not limited
 * to any. A host that is not stated is none of them.
 */
export function untrustedHost(
  { agentId, trustedDomains }: Pick<AgentPermission, 'agentId' | 'trustedDomains'>,
  { host }: Reached,
): string | undefined {
  if (trustedDomains.length === 0 || (host !== undefined && trustedDomains.some((one) => isIn(nameOf(host), one)))) {
    return undefined;
  }
  return `${host ?? 'A host that is not stated'} is not among the trusted domains of ${agentId}.`;
}
