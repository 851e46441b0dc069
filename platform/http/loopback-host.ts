/** Whether a socket's address is this machine's own (IPv4, IPv6 and IPv4 mapped into IPv6). */
export const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined && (address === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(address));

/**
 * Whether a host is this machine, whatever its names resolve to.
 *
 * @param host of a URL (`localhost`, `127.0.0.1`, `[::1]`), or an address without brackets
 */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
