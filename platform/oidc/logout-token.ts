import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { ProviderUnavailableError, UnprovenSignInError } from './errors';
import type { Provider } from './provider';

/** What a provider reports by itself: that a session of a person there has ended, or all of them. */
export interface ProviderLogout {
  issuer: string;
  /** Names the report, which counts once. */
  id: string;
  subject?: string;
  sid?: string;
}

const event = 'http://schemas.openid.net/event/backchannel-logout';
/** How old a report may be, in seconds; so long its name has to be remembered. */
export const maxLogoutTokenAgeSeconds = 300;
const clockToleranceSeconds = 30;
const maxTokenLength = 20_000;

/** Verifies logout tokens of a provider (OpenID Connect Back-Channel Logout 1.0). */
export function createLogoutVerifier(provider: Pick<Provider, 'keys'>, clientId: string) {
  const keySets = new Map<string, JWTVerifyGetKey>();

  /** @throws ProviderUnavailableError, UnprovenSignInError */
  return async function verify(token: string): Promise<ProviderLogout> {
    const { issuer, jwksUri, algorithms, fetch } = await provider.keys();
    const keySet =
      keySets.get(jwksUri.href) ??
      createRemoteJWKSet(jwksUri, {
        [customFetch]: (url, { headers, method, redirect, signal }) =>
          fetch(url, { headers: Object.fromEntries(headers), method, redirect, signal, body: undefined }),
      });
    keySets.clear();
    keySets.set(jwksUri.href, keySet);
    try {
      const { payload } = await jwtVerify(token.slice(0, maxTokenLength), keySet, {
        issuer,
        audience: clientId,
        algorithms,
        maxTokenAge: maxLogoutTokenAgeSeconds,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ['iat', 'jti', 'events'],
      });
      const { jti = '', sub, sid, events, nonce } = payload;
      const isLogout = typeof events === 'object' && events !== null && event in events && nonce === undefined;
      if (!isLogout || jti === '' || (sub === undefined && typeof sid !== 'string')) {
        throw new UnprovenSignInError('The token does not report that a session has ended.');
      }
      return {
        issuer,
        id: jti,
        ...(sub !== undefined && { subject: sub }),
        ...(typeof sid === 'string' && { sid }),
      };
    } catch (cause) {
      if (cause instanceof UnprovenSignInError) {
        throw cause;
      }
      const isUnreadable = !(cause instanceof errors.JOSEError) || cause instanceof errors.JWKSTimeout;
      throw isUnreadable
        ? new ProviderUnavailableError('The keys of the provider cannot be read.', { cause })
        : new UnprovenSignInError('The token is not one of the provider for this service.', { cause });
    }
  };
}
