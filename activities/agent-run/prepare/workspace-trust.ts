import type { Refusal } from '../../../contracts/refusal';
import type { WorkspaceInventory } from '../../../contracts/runs/trust';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { type LaunchTrust, trustAtLaunch } from '../../../domain/workspaces/trust';
import type { TrustStore } from '../../../stores/runs/workspaces/trust-store';
import type { SettingsStore } from '../../../stores/settings/settings-store';

export interface TrustDependencies {
  trust: Pick<TrustStore, 'latest'>;
  settings: Pick<SettingsStore, 'read'>;
}

/** What the files that a workspace brings mean for a launch, by the present decisions about them; or why it is refused. */
export async function trustOfLaunch(
  { trust, settings }: TrustDependencies,
  agent: AgentConfig,
  { repository, look }: { repository: string | undefined; look: () => Promise<WorkspaceInventory | null> },
): Promise<LaunchTrust | Refusal> {
  const mode = (await settings.read()).features.enforcement.workspaceTrust;
  const inventory = mode === 'off' ? null : await look();
  const decision = inventory && repository !== undefined ? await trust.latest(repository, inventory.digest) : undefined;
  return trustAtLaunch({ mode, inventory, decision, agent });
}
