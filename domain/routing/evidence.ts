import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { RuntimeCandidate } from '../../contracts/settings/routing';

/** A manifest that may state what an agent can do now. */
export interface RuntimeEvidence {
  source: RuntimeCandidate['source'];
  /** The host or the registration it comes from; null for what is only declared. */
  sourceId: string | null;
  /** The configured agent it is about; null for a registration, which is about a provider and its models. */
  agent: string | null;
  manifest: ProviderRuntimeManifest;
}

/**
 * Where routing learns what can be run now: the manifests of configured agents on live hosts, and those of fresh
 * registrations. An agent that no host has evidence of has a `declared` one.
 */
export interface RuntimeEvidenceSource {
  read(agents: AgentConfig[]): Promise<RuntimeEvidence[]>;
}
