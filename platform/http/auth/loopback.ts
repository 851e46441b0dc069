import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackAddress, isLoopbackHost } from '../loopback-host';

/** Both ends of a request's connection, as `net.Socket` has them. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Headers that proxies, tunnels and delivery networks add, each in front of callers that may be anywhere. */
const proxyHeaders = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
  'x-proxyuser-ip',
  'true-client-ip',
  'client-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'proxy-connection',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-amzn-trace-id',
  'x-envoy-external-address',
  'fastly-client-ip',
  'fly-client-ip',
  'ali-cdn-real-ip',
  'cdn-loop',
  'tailscale-user-login',
]);
const proxyPrefix = /^(?:x-forwarded|x-original-forwarded|cf-|x-vercel-|x-nf-)/;

/** Whether a request came through something that passes on requests of others. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) {
    if (proxyHeaders.has(name) || proxyPrefix.test(name)) {
      return true;
    }
  }
  return false;
}

/** A page's `Origin` (or `Referer`) as a URL; undefined for `null` and whatever else names no web page. */
const originUrl = (origin: string): URL | undefined =>
  /^https?:\/\//i.test(origin) && URL.canParse(origin) ? new URL(origin) : undefined;

/** A `Host` header as a URL. One client sends the same one with each request. */
function hostUrl(host: string): URL | undefined {
  if (lastHost?.host !== host) {
    lastHost = { host, url: URL.parse(`http://${host}`) ?? undefined };
  }
  return lastHost.url;
}
let lastHost: { host: string; url: URL | undefined } | undefined;

const isLoopback = (url: URL | undefined): boolean => url !== undefined && isLoopbackHost(url.hostname);

/** A socket's own address as a `Host` header has it. */
function addressAsHost(address: string | undefined): string | undefined {
  const plain = address?.replace(/^::ffff:(?=\d+\.)/, '');
  return plain?.includes(':') ? `[${plain}]` : plain;
}

/**
 * Whether the `Host` of a request is this server itself, with its port: a loopback name, or the very address that was
 * called. Any other name may have been rebound to this machine by the page that uses it.
 */
export function isOwnHost(host: string | undefined, { localAddress, localPort }: Connection): boolean {
  const url = host ? hostUrl(host) : undefined;
  if (!url || Number(url.port || 80) !== localPort) {
    return false;
  }
  return isLoopback(url) || url.hostname === addressAsHost(localAddress);
}

/** Whether a browser reports that it sends the request for a page of another site, be it a link, an image or a call. */
export const isCrossSite = (headers: IncomingHttpHeaders): boolean => headers['sec-fetch-site'] === 'cross-site';

export interface OriginRules {
  /** Each `scheme://host[:port]`. */
  allowedOrigins: readonly string[];
  /** Whether pages of this machine may call: for development, where they are the caller's own. */
  allowLocalOrigins: boolean;
}

/** Whether a page of `origin`, the value of an `Origin` header, may call this service from a browser. */
function isAllowedOrigin(origin: string, { allowedOrigins, allowLocalOrigins }: OriginRules): boolean {
  return allowedOrigins.includes(origin) || (allowLocalOrigins && isLoopback(originUrl(origin)));
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;

/**
 * Whether the page that sends a request was served under the very address that it calls, and that is an IP address or a
 * loopback name: it is this service's own page. That origin and `Host` are the same proves nothing for other names: a name
 * that was rebound to this machine is in both.
 */
function isOfOwnAddress(origin: string, { host, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  const page = originUrl(origin);
  if (!page || !host || page.host !== hostUrl(host)?.host || (site !== undefined && site !== 'same-origin')) {
    return false;
  }
  return isLoopback(page) || isAddress(page.hostname);
}

/** Whether the page that sends a request, by its `Origin`, may call this service from a browser. */
export const isAllowedPage = (headers: IncomingHttpHeaders, rules: OriginRules): boolean =>
  headers.origin !== undefined && (isAllowedOrigin(headers.origin, rules) || isOfOwnAddress(headers.origin, headers));

/** What a page that may not call gets in reply. */
export const refusedPage = {
  status: 403,
  code: 'CORS_REJECTED',
  message:
    'Pages of this origin are not allowed to call the service. BOARD_PUBLIC_URL sets the origin at which browsers reach it, BOARD_ALLOWED_ORIGINS further ones.',
} as const;

/**
 * Whether a request that presents no credential was made to this server by its own name, directly, and not for a page of
 * somewhere else: only these get what the service permits without a credential. Reads count as well: a page behind a rebound
 * name reads their responses.
 */
export function isDirectRequest(headers: IncomingHttpHeaders, connection: Connection, rules: OriginRules): boolean {
  if (isForwarded(headers) || !isOwnHost(headers.host, connection)) {
    return false;
  }
  const { origin, referer } = headers;
  if (origin !== undefined) {
    return isAllowedPage(headers, rules);
  }
  if (headers['sec-fetch-site'] !== undefined) {
    return !isCrossSite(headers);
  }
  // A browser that does not know that header names the page that made it read here, unless it was configured not to.
  return referer === undefined || isAllowedOrigin(URL.parse(referer)?.origin ?? '', rules);
}

/**
 * Whether a request was made on this machine, to this machine. The socket address alone does not prove it: a reverse proxy on
 * the same host forwards remote callers, and a web page can make a browser call a loopback port.
 */
export function isLocalRequest(headers: IncomingHttpHeaders, connection: Connection): boolean {
  if (!isLoopbackAddress(connection.remoteAddress) || !isLoopback(hostUrl(headers.host ?? ''))) {
    return false;
  }
  return isDirectRequest(headers, connection, { allowedOrigins: [], allowLocalOrigins: true });
}

/**
 * Whether a browser proves that a page of this service, or of an origin that may call it, has made the request. A cookie comes
 * with requests of other pages as well. The origin itself is checked for every request ([cors.ts](cors.ts)).
 */
export const isOfOwnPage = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  origin !== undefined || site === 'same-origin';

/** Whether a browser sends the request for a page of another origin of the same site, which it does not name. */
export const isOfUnnamedSibling = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  origin === undefined && site === 'same-site';
