import type { IncomingHttpHeaders } from 'node:http';

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a socket's remote address is this machine (IPv4, IPv6 and IPv4 mapped into IPv6). */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address);
}

/** An `Origin` header as a URL; undefined for `null` and whatever else names no web page. */
const originUrl = (origin: string): URL | undefined =>
  /^https?:\/\//i.test(origin) && URL.canParse(origin) ? new URL(origin) : undefined;

/** A `Host` header as a URL. */
const hostUrl = (host: string): URL | undefined =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;

const isLoopback = (url: URL | undefined): boolean => url !== undefined && loopbackNames.has(url.hostname);

/**
 * Whether a request was made on this machine, to this machine. The socket address alone does not say so: a reverse
 * proxy on the same host forwards strangers (it adds a forwarding header), and a web page can make a browser call a
 * loopback port (its `Origin`, or after DNS rebinding its `Host`, names somewhere else).
 *
 * @param remoteAddress address of the socket's other end
 */
export function isLocalRequest(headers: IncomingHttpHeaders, remoteAddress: string | undefined): boolean {
  if (!isLoopbackAddress(remoteAddress)) return false;
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false;
  if (!isLoopback(hostUrl(headers.host ?? ''))) return false;
  return headers.origin === undefined || isLoopback(originUrl(headers.origin));
}

/**
 * Whether a page of `origin` may call this service from a browser: it is listed, it is served from the same host and
 * port, or it is a page on this machine.
 *
 * @param origin value of the `Origin` header
 * @param host value of the `Host` header
 * @param allowed further origins, each `scheme://host[:port]`
 */
export function isAllowedOrigin(origin: string, host: string | undefined, allowed: readonly string[]): boolean {
  if (allowed.includes(origin)) return true;
  const page = originUrl(origin);
  return isLoopback(page) || (page !== undefined && page.host === host?.toLowerCase());
}
