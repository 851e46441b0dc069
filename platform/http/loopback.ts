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

export interface OriginRules {
  /** Each `scheme://host[:port]`. */
  allowedOrigins: readonly string[];
  /** Whether pages of this machine may call: for development, where they are the caller's own. */
  allowLocalOrigins: boolean;
}

/**
 * Whether a page of `origin` may call this service from a browser. That it names the same host as the request proves
 * nothing: a name that was rebound to this machine does too.
 *
 * @param origin value of the `Origin` header
 */
export function isAllowedOrigin(origin: string, { allowedOrigins, allowLocalOrigins }: OriginRules): boolean {
  return allowedOrigins.includes(origin) || (allowLocalOrigins && isLoopback(originUrl(origin)));
}
