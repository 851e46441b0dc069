import type { SandboxPreset } from '../../contracts/settings/sandbox';

type Environment = SandboxPreset['environment'];

const without = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((each) => !others.includes(each));

/** Lists that allow everything when they are empty, and otherwise only what they name. */
const opens = (parent: readonly string[], child: readonly string[]): boolean =>
  parent.length > 0 && (child.length === 0 || without(child, parent));

const exceeds = (parent: number | undefined, child: number | undefined): boolean =>
  parent !== undefined && (child === undefined || child > parent);

const passesMore = ({ passthrough: parent }: Environment, { passthrough: child }: Environment): boolean =>
  parent !== undefined && (child === undefined || without(child, parent));

const credentialRank = { none: 0, broker: 1, environment: 2 } as const;

/**
 * What a preset allows beyond its parent's, by the path of the field; empty when it allows no more. Paths and hosts are
 * compared as they are written: one that is narrower by another spelling counts as wider.
 */
export function widenedByPreset(parent: SandboxPreset, child: SandboxPreset): string[] {
  const { filesystem: files, network, credentials } = parent;
  const wider: [string, boolean][] = [
    ['resources.memoryMb', exceeds(parent.resources?.memoryMb, child.resources?.memoryMb)],
    ['resources.processes', exceeds(parent.resources?.processes, child.resources?.processes)],
    ['enforcement', parent.enforcement === 'required' && child.enforcement === 'advisory'],
    ['requiredCapabilities', without(parent.requiredCapabilities, child.requiredCapabilities)],
    ['filesystem.readPaths', opens(files.readPaths, child.filesystem.readPaths)],
    ['filesystem.writePaths', opens(files.writePaths, child.filesystem.writePaths)],
    ['filesystem.deniedPaths', without(files.deniedPaths, child.filesystem.deniedPaths)],
    ['filesystem.dotfileMasking', files.dotfileMasking && !child.filesystem.dotfileMasking],
    ['filesystem.localOnlyHandles', files.localOnlyHandles && !child.filesystem.localOnlyHandles],
    ['network.defaultEgress', network.defaultEgress === 'deny' && child.network.defaultEgress === 'allow'],
    [
      'network.allowedHosts',
      network.defaultEgress === 'deny' && without(child.network.allowedHosts, network.allowedHosts),
    ],
    ['network.allowedMethods', opens(network.allowedMethods, child.network.allowedMethods)],
    ['network.allowedPathPrefixes', opens(network.allowedPathPrefixes, child.network.allowedPathPrefixes)],
    ['network.blockPrivateNetwork', network.blockPrivateNetwork && !child.network.blockPrivateNetwork],
    ['network.blockMetadataEndpoints', network.blockMetadataEndpoints && !child.network.blockMetadataEndpoints],
    ['network.blockLoopback', network.blockLoopback && !child.network.blockLoopback],
    ['environment.passthrough', passesMore(parent.environment, child.environment)],
    ['environment.redactDisplay', parent.environment.redactDisplay && !child.environment.redactDisplay],
    ['credentials.mode', credentialRank[child.credentials.mode] > credentialRank[credentials.mode]],
    [
      'credentials.brokerRefs',
      child.credentials.mode === 'broker' && without(child.credentials.brokerRefs, credentials.brokerRefs),
    ],
  ];
  return wider.filter(([, isWider]) => isWider).map(([field]) => `sandbox.${field}`);
}
