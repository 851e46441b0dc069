import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** What is known of a request's caller before anything is believed of it. */
export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The address that a caller is counted under and named by. */
export type CallerAddress = (request: ReceivedRequest) => string | undefined;

/** The address of the connection, whatever its headers claim. */
export const socketAddress: CallerAddress = ({ socket }) => socket.remoteAddress;

/**
 * The caller's address where requests come through proxies: the last one in `X-Forwarded-For` that is not itself a trusted
 * proxy. The header of a connection from any other address is its caller's own invention and is ignored, and so is everything
 * before an entry that is no address.
 *
 * @param trusted addresses and networks, e.g. `10.0.0.7` and `10.1.0.0/16`; see `isAddressRange`
 */
export function callerAddressBehind(trusted: readonly string[]): CallerAddress {
  if (trusted.length === 0) {
    return socketAddress;
  }
  const proxies = new BlockList();
  for (const range of trusted) {
    addRange(proxies, range);
  }
  const isTrusted = (address: string): boolean => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? '');
    const claimed = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isIP(address) !== 0 && isTrusted(address)) {
      const before = withoutPort(claimed.pop()?.trim() ?? '');
      if (isIP(before) === 0) {
        break;
      }
      address = plain(before);
    }
    return address === '' ? undefined : address;
  };
}

/** Whether a text is an address or a network that `callerAddressBehind` takes. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest !== undefined) {
    return false;
  }
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function addRange(proxies: BlockList, range: string): void {
  const [address = '', bits] = range.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (bits === undefined) {
    proxies.addAddress(address, family);
  } else {
    proxies.addSubnet(address, Number(bits), family);
  }
}

/** An IPv4 address as such, also where a socket for both versions names it. */
const plain = (address: string): string => {
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  return isIPv4(mapped) ? mapped : address;
};

/** Some proxies add the port of the connection: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([^:]+):\d+$/.exec(entry)?.[1] ?? entry;
