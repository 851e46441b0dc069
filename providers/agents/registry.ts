import type { ProviderFamily } from '../../contracts/settings/agent-config';
import type { AgentProvider } from './provider';

/** The providers of this host, by the family of agents they run. */
export interface ProviderRegistry {
  /** `undefined` for a family that this host does not run, such as `remote-callback`. */
  find(family: ProviderFamily): AgentProvider | undefined;
}

export function createProviderRegistry(providers: readonly AgentProvider[]): ProviderRegistry {
  const byFamily = new Map(providers.map((provider) => [provider.family, provider]));
  return { find: (family) => byFamily.get(family) };
}
