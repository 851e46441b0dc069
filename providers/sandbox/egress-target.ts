import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { decideEgress, type Egress, type EgressVerdict } from '../../domain/sandbox/network';
import { blockedAddress } from './addresses';

export interface EgressPolicy {
  network: SandboxPreset['network'];
  /** Hosts with their ports that are reached by exception from the preset. */
  exceptions: readonly string[];
}

export type Resolve = (host: string) => Promise<string[]>;

/** The addresses of a host, as this host finds them. */
export const resolveHost: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

export type EgressTarget = EgressVerdict & {
  /** What is connected to: the address that was judged, and not what its name leads to a moment later. */
  address?: string;
};

/** Decides about one connection or request, and finds the address that it goes to. */
export async function egressTarget(
  { network, exceptions }: EgressPolicy,
  egress: Egress,
  resolve: Resolve = resolveHost,
): Promise<EgressTarget> {
  const verdict = decideEgress(network, egress, exceptions);
  if (!verdict.allowed) {
    return verdict;
  }
  const addresses = isIP(egress.host) ? [egress.host] : await resolve(egress.host);
  const [address] = addresses;
  // Any address that is blocked counts: a name that leads to several is not tried until one gets through.
  const blocked =
    verdict.rule === 'exception' ? undefined : addresses.map((each) => blockedAddress(network, each)).find(Boolean);
  if (blocked !== undefined) {
    return { allowed: false, rule: blocked };
  }
  return address === undefined ? verdict : { ...verdict, address };
}
