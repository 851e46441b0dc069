import type { SandboxPreset } from '../../contracts/settings/sandbox';

type Network = SandboxPreset['network'];

/**
 * How the processes of a run are connected: `shared` with their host, `none`, or `proxy`: a network of their own whose only
 * way out is the proxy of the worker.
 */
export type NetworkMode = 'shared' | 'none' | 'proxy';

/** @param exceptions addresses that are reached by exception from the preset: that of the API */
export function networkModeOf(network: Network, exceptions: readonly string[] = []): NetworkMode {
  if (network.defaultEgress === 'deny' && network.allowedHosts.length + exceptions.length === 0) {
    return 'none';
  }
  return network.defaultEgress === 'deny' || blocksAddresses(network) || limitsRequests(network) ? 'proxy' : 'shared';
}

const blocksAddresses = ({ blockLoopback, blockMetadataEndpoints, blockPrivateNetwork }: Network): boolean =>
  blockLoopback || blockMetadataEndpoints || blockPrivateNetwork;

const limitsRequests = ({ allowedMethods, allowedPathPrefixes }: Network): boolean =>
  allowedMethods.length + allowedPathPrefixes.length > 0;

/** The ports of a host that is allowed without one. */
const webPorts: readonly number[] = [80, 443];

/** Where nothing but requests in plain HTTP is possible, so that methods and paths are seen by a proxy. */
export const isPlainHttpOnly = ({ defaultEgress, allowedHosts }: Network): boolean =>
  defaultEgress === 'deny' && allowedHosts.every((host) => host.endsWith(':80'));

/** The name of the events about what leaves a sandbox: the board's own, and no tool of an agent. */
export const egressEventName = 'network.egress';

/** One connection or request that leaves a sandbox. */
export interface Egress {
  host: string;
  port: number;
  /** Of a request in plain HTTP; absent for a tunnel, in which neither is seen. */
  request?: { method: string; path: string };
}

/** Which part of a preset decided. */
export type EgressRule =
  | 'exception'
  | 'defaultEgress'
  | 'allowedHosts'
  | 'allowedMethods'
  | 'allowedPathPrefixes'
  | 'blockLoopback'
  | 'blockPrivateNetwork'
  | 'blockMetadataEndpoints';

export interface EgressVerdict {
  allowed: boolean;
  rule: EgressRule;
}

/** Whether a preset lets a connection out, as far as its name shows; its address is judged by `blockedAddress`. */
export function decideEgress(network: Network, egress: Egress, exceptions: readonly string[] = []): EgressVerdict {
  if (exceptions.some((exception) => matches(exception, egress))) {
    return { allowed: true, rule: 'exception' };
  }
  const { defaultEgress, allowedHosts } = network;
  if (defaultEgress === 'deny' && !allowedHosts.some((host) => matches(host, egress))) {
    return { allowed: false, rule: 'allowedHosts' };
  }
  return (
    requestVerdict(network, egress.request) ?? {
      allowed: true,
      rule: defaultEgress === 'deny' ? 'allowedHosts' : 'defaultEgress',
    }
  );
}

function requestVerdict(network: Network, request: Egress['request']): EgressVerdict | undefined {
  const { allowedMethods, allowedPathPrefixes } = network;
  if (!request) {
    // A tunnel to a port of plain HTTP would carry requests past the limits of requests.
    return limitsRequests(network) && isPlainHttpOnly(network) ? { allowed: false, rule: 'allowedMethods' } : undefined;
  }
  if (allowedMethods.length > 0 && !allowedMethods.some((method) => method === request.method)) {
    return { allowed: false, rule: 'allowedMethods' };
  }
  return allowedPathPrefixes.length > 0 && !allowedPathPrefixes.some((prefix) => startsWith(request.path, prefix))
    ? { allowed: false, rule: 'allowedPathPrefixes' }
    : undefined;
}

/** By whole segments of the path, after what a server might resolve: `/a/../b` begins with `/b`. */
function startsWith(path: string, prefix: string): boolean {
  if (/%2e|%2f|%5c|\\/i.test(path)) {
    return false;
  }
  const { pathname } = new URL(path, 'http://path.invalid');
  const base = prefix.replace(/\/+$/, '');
  return pathname === base || pathname.startsWith(`${base}/`);
}

function matches(pattern: string, { host, port }: Pick<Egress, 'host' | 'port'>): boolean {
  const [, name = '', ports] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (ports === undefined ? !webPorts.includes(port) : Number(ports) !== port) {
    return false;
  }
  const requested = host.toLowerCase().replace(/\.$/, '');
  return name.startsWith('*.') ? requested.endsWith(name.slice(1)) : requested === name;
}
