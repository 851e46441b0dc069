import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses that are never connected to, by a rule beside that for all private ones. */
export interface DeniedAddresses {
  /** What resolves names for a connection: to a denied address, not at all. */
  lookup: LookupFunction;
  /** Whether the host of a URL is such an address itself, which is not resolved. */
  isHostOf(url: URL): boolean;
}

/** Addresses of a link are where clouds serve credentials to their machines. */
const linkLocal = [
  ['169.254.0.0', 16, 'ipv4'],
  ['fe80::', 10, 'ipv6'],
] as const;
const loopback = [
  ['127.0.0.0', 8, 'ipv4'],
  ['::1', 128, 'ipv6'],
] as const;

/** An IPv4 address that is written as one of IPv6 is found as well. */
export function deniedAddresses({ allowLoopback }: { allowLoopback: boolean }): DeniedAddresses {
  const list = new BlockList();
  for (const [net, prefix, family] of allowLoopback ? linkLocal : [...linkLocal, ...loopback]) {
    list.addSubnet(net, prefix, family);
  }
  const isDenied = (address: string): boolean => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return {
    lookup: (hostname, options, callback) =>
      lookup(hostname, options, (error, address, family) => {
        if (error) {
          callback(error, address, family);
          return;
        }
        const addresses = typeof address === 'string' ? [address] : address.map((one) => one.address);
        const refused = addresses.some(isDenied) ? new Error(`The address of ${hostname} is not allowed.`) : null;
        callback(refused, address, family);
      }),
    isHostOf({ hostname }) {
      const host = hostname.replace(/^\[|\]$/g, '');
      return isIP(host) !== 0 && isDenied(host);
    },
  };
}
