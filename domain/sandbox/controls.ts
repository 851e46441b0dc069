import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { isPlainHttpOnly } from './network';
import { bySandbox } from './support';

type Control = NonNullable<RunLaunchManifest['sandbox']>['controls'][number];
type State = Control['state'];

/** A control of a preset, what enforces it, and why that does not suffice for how the preset uses it. */
interface Use {
  control: string;
  capabilityId: string;
  applies: boolean;
  lacks?: boolean;
}

/** Names in `readPaths` and `writePaths` that no mount could stand for. */
const isPattern = (path: string): boolean => /[*?]/.test(path.replace(/(?:\/\*{1,2})+$/, ''));

/** The controls a preset uses, each with the capability that enforces it. */
export function controlsOf(preset: SandboxPreset, runtime: ProviderRuntimeManifest): Control[] {
  const states = new Map(runtime.capabilities.map(({ id, state }) => [id, state]));
  const ofSandbox = bySandbox(runtime);
  const uses = [...fileUses(preset, ofSandbox), ...networkUses(preset, ofSandbox), ...otherUses(preset)];
  const controls = uses
    .filter(({ applies }) => applies)
    .map(({ control, capabilityId, lacks }): Control => {
      const state: State = lacks ? 'unsupported' : (states.get(capabilityId) ?? 'unknown');
      return { control, capabilityId, state, enforced: state === 'supported' };
    });
  return [...controls, ...resourceControls(preset, runtime)];
}

function fileUses({ filesystem: files }: SandboxPreset, ofSandbox: ReadonlySet<string>): Use[] {
  // A run that may only use some paths is denied all others.
  const denies = 'filesystem.deny-paths';
  const patterns = (paths: readonly string[]) => ofSandbox.has(denies) && paths.some(isPattern);
  return [
    {
      control: 'filesystem.readPaths',
      capabilityId: denies,
      applies: files.readPaths.length > 0,
      lacks: patterns(files.readPaths),
    },
    {
      control: 'filesystem.writePaths',
      capabilityId: denies,
      applies: files.writePaths.length > 0,
      lacks: patterns(files.writePaths),
    },
    { control: 'filesystem.deniedPaths', capabilityId: denies, applies: files.deniedPaths.length > 0 },
    { control: 'filesystem.dotfileMasking', capabilityId: 'filesystem.dotfile-masking', applies: files.dotfileMasking },
    {
      control: 'filesystem.localOnlyHandles',
      capabilityId: 'filesystem.protected-metadata',
      applies: files.localOnlyHandles,
      // Mounts protect files, and know nothing of what an agent hands on.
      lacks: ofSandbox.has('filesystem.protected-metadata'),
    },
  ];
}

function networkUses({ network }: SandboxPreset, ofSandbox: ReadonlySet<string>): Use[] {
  const requests = network.allowedMethods.length + network.allowedPathPrefixes.length > 0;
  const lists = requests || network.allowedHosts.length > 0;
  // In a tunnel of HTTPS, a proxy sees neither methods nor paths.
  const unseen = ofSandbox.has('network.allowlist') && !isPlainHttpOnly(network);
  return [
    {
      control: 'network.defaultEgress',
      capabilityId: lists ? 'network.allowlist' : 'network.disable',
      applies: network.defaultEgress === 'deny',
    },
    { control: 'network.allowedHosts', capabilityId: 'network.allowlist', applies: network.allowedHosts.length > 0 },
    {
      control: 'network.allowedMethods',
      capabilityId: 'network.allowlist',
      applies: network.allowedMethods.length > 0,
      lacks: unseen,
    },
    {
      control: 'network.allowedPathPrefixes',
      capabilityId: 'network.allowlist',
      applies: network.allowedPathPrefixes.length > 0,
      lacks: unseen,
    },
    {
      control: 'network.blockPrivateNetwork',
      capabilityId: 'network.block-private',
      applies: network.blockPrivateNetwork,
    },
    {
      control: 'network.blockMetadataEndpoints',
      capabilityId: 'network.block-metadata',
      applies: network.blockMetadataEndpoints,
    },
    { control: 'network.blockLoopback', capabilityId: 'network.block-private', applies: network.blockLoopback },
  ];
}

const otherUses = ({ environment, credentials }: SandboxPreset): Use[] => [
  {
    control: 'environment.passthrough',
    capabilityId: 'environment.allowlist',
    applies: environment.passthrough !== undefined,
  },
  {
    control: 'credentials',
    capabilityId: 'credential.broker',
    applies: credentials.mode === 'broker' || credentials.brokerRefs.length > 0,
  },
];

/** Limits of resources are no capability of an agent's runtime, but of its host. */
function resourceControls({ resources }: SandboxPreset, { sandbox }: ProviderRuntimeManifest): Control[] {
  const uses = [
    ['memoryMb', resources?.memoryMb, sandbox?.memory],
    ['processes', resources?.processes, sandbox?.processes],
  ] as const;
  return uses
    .filter(([, value]) => value !== undefined)
    .map(([name, , mechanism = 'none']): Control => {
      const enforced = mechanism !== 'none';
      const state: State = enforced ? 'supported' : 'unsupported';
      return { control: `resources.${name}`, capabilityId: `resources.${name}`, state, enforced };
    });
}
