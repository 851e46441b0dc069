import type { JWTPayload } from 'jose';
import { createLogoutVerifier } from '../../../platform/oidc/logout-token';
import { createProvider } from '../../../platform/oidc/provider';
import { type HostileProvider, startHostileProvider, unsigned } from '../../support/identity-provider/hostile-provider';

const event = 'http://schemas.openid.net/event/backchannel-logout';

describe('a report that a session has ended', () => {
  let hostile: HostileProvider;
  let verify: ReturnType<typeof createLogoutVerifier>;
  beforeAll(async () => {
    hostile = await startHostileProvider();
    const redirectUri = 'http://localhost:3001/api/auth/oidc/callback';
    const provider = createProvider({ issuer: hostile.issuer, clientId: 'board', redirectUri, scopes: 'openid' });
    verify = createLogoutVerifier(provider, 'board');
  });
  afterAll(() => hostile.close());

  const claims = (change: JWTPayload = {}): JWTPayload => ({
    iss: hostile.issuer,
    aud: 'board',
    sub: 'ann',
    sid: 'session-there',
    iat: Math.floor(Date.now() / 1_000),
    jti: 'report',
    events: { [event]: {} },
    ...change,
  });

  it('names the person or the session', async () => {
    expect(await verify(await hostile.sign(claims()))).toEqual({
      issuer: hostile.issuer,
      id: 'report',
      subject: 'ann',
      sid: 'session-there',
    });
    expect(await verify(await hostile.sign(claims({ sub: undefined })))).not.toHaveProperty('subject');
  });

  it.each<[string, JWTPayload]>([
    ['of another issuer', { iss: 'https://other.example' }],
    ['for another client', { aud: 'another' }],
    ['that is an ID token', { events: undefined, nonce: 'a' }],
    ['with a nonce', { nonce: 'a' }],
    ['of another event', { events: { 'https://other.example/event': {} } }],
    ['about nobody', { sub: undefined, sid: undefined }],
    ['that is old', { iat: Math.floor(Date.now() / 1_000) - 600 }],
    ['without a name', { jti: undefined }],
    ['with an empty name', { jti: '' }],
    ['about no text', { sub: undefined, sid: 5 }],
    ['without events', { events: null }],
    ['whose events are a text', { events: event }],
  ])('is not believed: one %s', async (_case, change) => {
    await expect(verify(await hostile.sign(claims(change)))).rejects.toMatchObject({ name: 'UnprovenSignInError' });
  });

  it('cannot be verified while the keys cannot be read', async () => {
    const away = createLogoutVerifier(
      {
        keys: async () => ({
          ...{ issuer: hostile.issuer, jwksUri: new URL('http://127.0.0.1:1/jwks'), algorithms: ['RS256'] },
          fetch: () => Promise.reject(new Error('away')),
        }),
      },
      'board',
    );
    await expect(away(await hostile.sign(claims()))).rejects.toMatchObject({ name: 'ProviderUnavailableError' });
  });

  it('names no session that is not a text', async () => {
    expect(await verify(await hostile.sign(claims({ sid: 5 })))).not.toHaveProperty('sid');
  });

  it('is not believed without a signature of the provider', async () => {
    for (const token of [unsigned(claims()), `${await hostile.sign(claims())}x`, '', 'a.b.c']) {
      await expect(verify(token)).rejects.toMatchObject({ name: 'UnprovenSignInError' });
    }
  });
});
