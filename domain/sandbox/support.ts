import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { HostSandbox } from '../../contracts/runs/launch/host-sandbox';

/** Capabilities that the sandbox of a host gives the runs which have a preset. */
const always = [
  'filesystem.deny-paths',
  'filesystem.dotfile-masking',
  'filesystem.protected-metadata',
  'filesystem.descendants',
  'filesystem.run-scoped-temp',
  'filesystem.cleanup',
] as const;

/** Those that need a network namespace. */
const withNetwork = [
  'network.disable',
  'network.allowlist',
  'network.block-private',
  'network.block-metadata',
] as const;

/** What limits a resource: `cgroup` everything of a run together, `rlimit` each process or user, `none` nothing. */
export type LimitMechanism = 'cgroup' | 'rlimit' | 'none';

/** What the sandbox of a host has shown that it can do, by running one. */
export interface SandboxFeatures {
  version: string;
  network: boolean;
  memory: LimitMechanism;
  processes: LimitMechanism;
}

/** The capabilities that a host's sandbox enforces. */
export const sandboxCapabilities = ({ network }: Pick<SandboxFeatures, 'network'>): string[] => [
  ...always,
  ...(network ? withNetwork : []),
];

/** A host's sandbox as a manifest describes it. */
export const hostSandboxOf = (features: SandboxFeatures): HostSandbox => ({
  mechanism: 'bubblewrap',
  version: features.version,
  capabilities: sandboxCapabilities(features),
  memory: features.memory,
  processes: features.processes,
});

/** What a host may turn out to enforce: a launch is not refused for it before its host was probed. */
export const possibleSandbox: HostSandbox = hostSandboxOf({
  version: 'unknown',
  network: true,
  memory: 'cgroup',
  processes: 'cgroup',
});

/** The capabilities that only the sandbox gives: an agent without a preset does not have them. */
export const bySandbox = ({ sandbox, capabilities }: Pick<ProviderRuntimeManifest, 'sandbox' | 'capabilities'>) =>
  new Set(sandbox ? capabilities.filter(({ source }) => source === 'host-enforced').map(({ id }) => id) : []);
