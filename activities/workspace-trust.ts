import type { AgentConfig } from '../contracts/agent-config';
import type { LaunchRefusal } from '../contracts/launch';
import type { WorkspaceInventory } from '../contracts/workspace-trust';
import { trustAtLaunch, type LaunchTrust } from '../runs/workspace/trust';
import type { SettingsStore } from '../stores/settings-store';
import type { TrustStore } from '../stores/trust-store';

export interface TrustDependencies {
  trust: Pick<TrustStore, 'latest'>;
  featureSettings: Pick<SettingsStore, 'read'>;
}

/** What the files that a workspace brings mean for a launch, by what is decided about them now; or why it is refused. */
export async function trustOfLaunch(
  { trust, featureSettings }: TrustDependencies,
  agent: AgentConfig,
  repository: string | undefined,
  look: () => Promise<WorkspaceInventory | null>,
): Promise<LaunchTrust | LaunchRefusal> {
  const mode = (await featureSettings.read()).features.enforcement.workspaceTrust;
  const inventory = mode === 'off' ? null : await look();
  const decision = inventory && repository !== undefined ? await trust.latest(repository, inventory.digest) : undefined;
  return trustAtLaunch({ mode, inventory, decision, agent });
}
