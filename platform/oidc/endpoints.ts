import type { CustomFetch, ServerMetadata } from 'openid-client';
import { createFilteredFetch, type FilteredFetch } from '../http/filtered-fetch';
import { isLoopbackHost } from '../http/loopback-host';
import { ProviderUnavailableError } from './errors';

const timeoutMs = 5_000;
const maxBytes = 1_048_576;
/** Origins that one provider may name, besides its own. */
const maxOrigins = 10;

/** Whether the address of a provider is of this machine, where alone it may be without TLS. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => isLoopbackHost(hostname);

/** Endpoints that this service calls; browsers are sent to the others. */
const called = ['token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const;
const visited = ['authorization_endpoint', 'end_session_endpoint'] as const;

/**
 * Refuses metadata that names an endpoint without TLS, which only the provider of this machine may.
 *
 * @throws ProviderUnavailableError
 */
export function assertEndpoints(metadata: ServerMetadata, issuer: URL): void {
  for (const name of [...called, ...visited]) {
    const endpoint = metadata[name];
    if (endpoint === undefined) {
      continue;
    }
    const url = URL.parse(endpoint);
    const isSound =
      url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackUrl(url) && isLoopbackUrl(issuer));
    if (!isSound) {
      throw new ProviderUnavailableError(`The provider names a ${name} that is not reached over TLS.`);
    }
  }
}

/**
 * Calls the provider. Its own address may be on a private network, since an administrator has configured it; an address that its
 * metadata names may not, or a provider could make this service call what only this service can reach. Redirects are not followed.
 */
export function createProviderFetch(issuer: URL): CustomFetch {
  const byOrigin = new Map<string, FilteredFetch>();
  const fetchOf = (origin: string): FilteredFetch => {
    const present = byOrigin.get(origin);
    if (present) {
      return present;
    }
    if (byOrigin.size > maxOrigins) {
      throw new ProviderUnavailableError(`The provider names more than ${maxOrigins} other origins.`);
    }
    const fetchThere = createFilteredFetch({ origin, allowPrivate: origin === issuer.origin, timeoutMs, maxBytes });
    byOrigin.set(origin, fetchThere);
    return fetchThere;
  };
  return (address, { method, headers, body }) => {
    const { origin } = new URL(address);
    return fetchOf(origin)(address, { method, headers, body: textOf(body) });
  };
}

/** The body of a request of this protocol, which is a form. */
function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) {
    return undefined;
  }
  if (typeof body === 'string' || body instanceof URLSearchParams) {
    return body.toString();
  }
  throw new TypeError('Requests to a provider are forms.');
}
