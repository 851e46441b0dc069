import type { IncomingHttpHeaders } from 'node:http';
import type { AuthContext } from './auth';
import type { Connection } from './loopback';

/** The cookie that carries a session. */
export const sessionCookie = 'board_session';

/** What a request proves itself with, and in what. */
export interface PresentedCredential {
  carrier: 'cookie' | 'bearer' | 'header' | 'query';
  value: string;
}

/** The parts of a request, or of a WebSocket upgrade, that a credential may depend on. */
export interface CredentialRequest {
  headers: IncomingHttpHeaders;
  connection: Connection;
}

/**
 * Identifies the owner of one kind of credential; `undefined` for a wrong one and for every other kind. It recognises its own
 * kind by the form of the value, so that no credential is looked up among those of another kind.
 */
export type CredentialVerifier = (
  credential: PresentedCredential,
  request: CredentialRequest,
) => Promise<AuthContext | undefined>;

/**
 * The value of a cookie, as it was set. It is empty where a request has several of that name: a page of another port, or of a
 * neighbouring domain, may have added one, and the order of them proves nothing.
 */
export function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const values = (headers.cookie?.split(';') ?? []).flatMap((pair) => {
    const at = pair.indexOf('=');
    return at !== -1 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length > 1 ? '' : values[0];
}

/** The key a request presents: a bearer token, else `X-API-Key`, else the query's. */
function presentedKey(headers: IncomingHttpHeaders, queryKey?: string): PresentedCredential | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) {
    return { carrier: 'bearer', value: bearer };
  }
  const apiKey = headers['x-api-key'];
  const header = Array.isArray(apiKey) ? apiKey[0] : apiKey;
  if (header !== undefined) {
    return { carrier: 'header', value: header };
  }
  return queryKey === undefined ? undefined : { carrier: 'query', value: queryKey };
}

/** Whether a request presents a key of any kind. A session's cookie is none: browsers send it without being asked to. */
export const presentsKey = (headers: IncomingHttpHeaders, queryKey?: string): boolean =>
  presentedKey(headers, queryKey) !== undefined;

/**
 * What a request presents, in the order in which it counts: the cookie of a session, then the key.
 *
 * @param queryKey key from the query string, which only the WebSocket upgrade may use
 */
export function presentedCredentials(headers: IncomingHttpHeaders, queryKey?: string): PresentedCredential[] {
  const cookie = cookieOf(headers, sessionCookie);
  const key = presentedKey(headers, queryKey);
  return [...(cookie === undefined ? [] : [{ carrier: 'cookie' as const, value: cookie }]), ...(key ? [key] : [])];
}
