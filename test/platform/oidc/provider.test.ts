import { createHmac } from 'node:crypto';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { createLog } from '../../../platform/log/log';
import type { Claims } from '../../../platform/oidc/claims';
import { assertEndpoints, createProviderFetch } from '../../../platform/oidc/endpoints';
import { SignInDeniedError, UnprovenSignInError } from '../../../platform/oidc/errors';
import { createProvider, type Provider } from '../../../platform/oidc/provider';
import {
  type HostileProvider,
  type Misconduct,
  startHostileProvider,
  unsigned,
} from '../../support/identity-provider/hostile-provider';

const redirectUri = 'http://localhost:3001/api/auth/oidc/callback';
const clientSecret = 'the-secret-of-our-client-at-the-provider';

const causesOf = (error: unknown): string[] => (error instanceof Error ? [error.name, ...causesOf(error.cause)] : []);

describe('a provider of OpenID Connect', () => {
  let hostile: HostileProvider;
  beforeAll(async () => {
    hostile = await startHostileProvider();
  });
  afterAll(() => hostile.close());
  beforeEach(() => hostile.behave({}));

  const ours = (settings: object = {}): Provider =>
    createProvider({
      issuer: hostile.issuer,
      clientId: 'board',
      clientSecret,
      redirectUri,
      scopes: 'openid',
      ...settings,
    });

  /** Begins a sign-in, and comes back with a code as the provider would send it. */
  async function signIn(
    misconduct: Misconduct,
    change: (callback: URLSearchParams) => void = () => undefined,
    {
      needs = () => false,
      ...settings
    }: { needs?: (claims: Claims) => boolean; clientSecret?: string | undefined } = {},
  ) {
    hostile.behave(misconduct);
    const provider = ours(settings);
    const { secrets } = await provider.begin();
    hostile.expect(secrets.nonce);
    const callback = new URLSearchParams({ code: 'code', state: secrets.state, iss: hostile.issuer });
    change(callback);
    return provider.complete(callback.toString(), secrets, needs);
  }

  it('proves who has signed in', async () => {
    const identity = await signIn({ claims: { groups: ['ops'], sid: 'session-there' } });
    expect(identity).toMatchObject({ issuer: hostile.issuer, subject: 'ann', sid: 'session-there' });
    expect(identity.claims.groups).toEqual(['ops']);
  });

  it('is asked for a code with a state, a nonce and a challenge of their own each time', async () => {
    const [{ url, secrets }, other] = await Promise.all([ours().begin(), ours().begin()]);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'board',
      redirect_uri: redirectUri,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge_method: 'S256',
    });
    expect(url.href).not.toContain(secrets.verifier);
    const values = [secrets, other.secrets].flatMap(({ state, nonce, verifier }) => [state, nonce, verifier]);
    expect(new Set(values).size).toBe(6);
    expect(values.every((value) => value.length >= 43)).toBe(true);
  });

  it('has no session that is not named by a text', async () => {
    expect(await signIn({ claims: { sid: 5 } })).not.toHaveProperty('sid');
  });

  describe('the user information', () => {
    const metadata = () => ({ userinfo_endpoint: `${hostile.issuer}/userinfo` });
    const needs = (claims: Claims) => claims.groups === undefined;

    it('is read for what the ID token lacks, and decides nothing that is in it', async () => {
      const userinfo = { sub: 'ann', groups: ['ops'], email: 'other@corp.example' };
      const { claims } = await signIn(
        { metadata: metadata(), userinfo, claims: { email: 'a@corp.example' } },
        undefined,
        { needs },
      );
      expect(claims).toMatchObject({ sub: 'ann', groups: ['ops'], email: 'a@corp.example' });
    });

    it('is not believed about another person', async () => {
      const userinfo = { sub: 'mallory', groups: ['ops'] };
      await expect(signIn({ metadata: metadata(), userinfo }, undefined, { needs })).rejects.toThrow(
        UnprovenSignInError,
      );
    });

    it('is not asked when nothing is lacking, or where there is none', async () => {
      const before = hostile.received.length;
      await signIn({ metadata: metadata(), claims: { groups: ['dev'] } }, undefined, { needs });
      expect((await signIn({}, undefined, { needs })).claims.groups).toBeUndefined();
      expect(hostile.received.slice(before)).not.toContain('/userinfo');
    });
  });

  describe('is sent the secret of its client', () => {
    const methods = (...supported: string[]): Misconduct => ({
      metadata: { token_endpoint_auth_methods_supported: supported },
    });
    // Both parts are percent-encoded (RFC 6749, 2.3.1).
    const basic = `Basic ${Buffer.from(`board:${clientSecret.replaceAll('-', '%2D')}`).toString('base64')}`;

    it.each<[string, Misconduct, string | undefined, string | undefined, string | null]>([
      ['in the header, by default', {}, clientSecret, basic, null],
      ['in the header, where only that is supported', methods('client_secret_basic'), clientSecret, basic, null],
      ['in the form, where that is supported', methods('client_secret_post'), clientSecret, undefined, clientSecret],
      ['not at all, of a public client', methods('client_secret_post', 'none'), undefined, undefined, null],
    ])('%s', async (_case, misconduct, secret, authorization, sent) => {
      await signIn(misconduct, undefined, { clientSecret: secret });
      const { authorization: received, form } = hostile.tokenRequest();
      expect([received, form.get('client_secret')]).toEqual([authorization, sent]);
      expect(form.get('code_verifier')).toMatch(/^[\w-]{43,}$/);
    });
  });

  const otherKey = async (claims: JWTPayload) => {
    const { privateKey } = await generateKeyPair('RS256');
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(privateKey);
  };
  const byOurSecret = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(clientSecret));
  const byPublicValue = (claims: JWTPayload) => {
    const [header = '', payload = ''] = unsigned(claims).split('.');
    const asHmac = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'own' })).toString('base64url');
    return `${asHmac}.${payload}.${createHmac('sha256', header).update(`${asHmac}.${payload}`).digest('base64url')}`;
  };
  const past = Math.floor(Date.now() / 1_000) - 3_600;

  it.each<[string, Misconduct]>([
    ['unsigned', { idToken: unsigned }],
    [
      'unsigned, where the metadata allows nothing else',
      { idToken: unsigned, metadata: { id_token_signing_alg_values_supported: ['none'] } },
    ],
    ['signed by another key', { idToken: otherKey }],
    ['signed with the secret of the client', { idToken: byOurSecret }],
    ['signed with a public value', { idToken: byPublicValue }],
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['for another client', { claims: { aud: 'another' } }],
    ['for several clients, of which another one asked', { claims: { aud: ['board', 'another'], azp: 'another' } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['of no sign-in', { claims: { nonce: undefined } }],
    ['of nobody', { claims: { sub: undefined } }],
    ['expired', { claims: { iat: past, exp: past + 60 } }],
    ['of the future', { claims: { iat: past + 90_000, nbf: past + 90_000 } }],
    ['missing', { tokens: { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } }],
    ['refused', { tokens: { status: 400, body: '{"error":"invalid_grant"}' } }],
  ])('is not believed with an ID token that is %s', async (_case, misconduct) => {
    await expect(signIn(misconduct)).rejects.toThrow(UnprovenSignInError);
  });

  it.each<[string, (callback: URLSearchParams) => void]>([
    ['another state', (callback) => callback.set('state', 'another')],
    ['no state', (callback) => callback.delete('state')],
    ['two states', (callback) => callback.append('state', 'another')],
    ['two codes', (callback) => callback.append('code', 'another')],
    ['another issuer', (callback) => callback.set('iss', 'https://other.example')],
    ['no code', (callback) => callback.delete('code')],
  ])('is not believed when the browser comes back with %s, and is not asked for tokens', async (_case, change) => {
    const before = hostile.received.length;
    await expect(signIn({}, change)).rejects.toThrow(UnprovenSignInError);
    expect(hostile.received.slice(before)).not.toContain('/token');
  });

  it('is logged with the reason, and without what it sent', async () => {
    let sent = '';
    const idToken = async (claims: JWTPayload) => (sent = await hostile.sign(claims));
    const lines: string[] = [];
    const log = createLog({ name: 'test', level: 'warn' }, { write: (line) => lines.push(line) });
    for (const misconduct of [
      { idToken, claims: { nonce: 'another' } },
      { tokens: { status: 400, body: '{"error":"invalid_grant","error_description":"the-code-of-it"}' } },
    ]) {
      const error = await signIn(misconduct).catch((reason: unknown) => reason);
      log.warn({ err: error }, 'sign-in with the provider failed');
    }
    expect(lines[0]).toMatch(/nonce/);
    expect(lines[1]).toMatch(/invalid_grant/);
    const [, payload = ''] = sent.split('.');
    expect(lines.join('')).not.toMatch(new RegExp(`${payload}|the-code-of-it|access_token|${clientSecret}`));
  });

  it('may refuse a sign-in', async () => {
    const denied = signIn({}, (callback) => {
      callback.delete('code');
      callback.set('error', 'access_denied');
    });
    await expect(denied).rejects.toThrow(SignInDeniedError);
    await expect(denied).rejects.toMatchObject({ reason: 'access_denied' });
  });

  it.each<[string, Misconduct]>([
    ['of another issuer', { metadata: { issuer: 'https://other.example' } }],
    ['with an endpoint without TLS', { metadata: { token_endpoint: 'http://10.0.0.1/token' } }],
    ['with an endpoint that is no URL', { metadata: { jwks_uri: 'file:///etc/passwd' } }],
  ])('is not used with metadata %s', async (_case, misconduct) => {
    hostile.behave(misconduct);
    await expect(ours().begin()).rejects.toMatchObject({ name: 'ProviderUnavailableError' });
  });

  it('names a bounded number of other origins', async () => {
    const fetchThere = createProviderFetch(new URL('https://id.example'));
    const call = async (n: number) => {
      try {
        await fetchThere(`https://127.0.0.1:${n}/`, {
          method: 'GET',
          headers: {},
          body: undefined,
          redirect: 'manual',
        });
        return '';
      } catch (error) {
        return (error as Error).name;
      }
    };
    const names = [];
    for (let port = 1; port <= 12; port += 1) {
      names.push(await call(port), await call(port));
    }
    expect(names).toEqual([...Array(22).fill('ForbiddenAddressError'), ...Array(2).fill('ProviderUnavailableError')]);
  });

  it.each<[string, string, string, boolean]>([
    ['https', 'https://id.example', 'https://tokens.example/token', true],
    ['http elsewhere', 'https://id.example', 'http://tokens.example/token', false],
    ['http of this machine, of a provider elsewhere', 'https://id.example', 'http://127.0.0.1:9/token', false],
    ['http of this machine', 'http://localhost:9', 'http://[::1]:9/token', true],
    ['http elsewhere, of a provider of this machine', 'http://127.0.0.1:9', 'http://10.0.0.1/token', false],
  ])('has its endpoints verified: %s', (_case, issuer, endpoint, isSound) => {
    const check = () => assertEndpoints({ issuer, token_endpoint: endpoint }, new URL(issuer));
    if (isSound) {
      expect(check).not.toThrow();
    } else {
      expect(check).toThrow('token_endpoint');
    }
  });

  it('cannot make the service call other addresses of its network', async () => {
    const metadata = { token_endpoint: 'https://127.0.0.2:9/token' };
    const error = await signIn({ metadata }).catch((reason: unknown) => reason);
    expect(causesOf(error)).toEqual(expect.arrayContaining(['ProviderUnavailableError', 'ForbiddenAddressError']));
  });

  it('is unavailable while it responds with failures, and is tried again', async () => {
    const provider = ours();
    hostile.behave({ metadata: { issuer: 'https://other.example' } });
    await expect(provider.begin()).rejects.toMatchObject({ name: 'ProviderUnavailableError' });
    hostile.behave({});
    await expect(provider.begin()).resolves.toBeDefined();
    await expect(signIn({ tokens: { status: 500, body: '{"error":"server_error"}' } })).rejects.toMatchObject({
      name: 'ProviderUnavailableError',
    });
    await expect(signIn({ tokens: { status: 500, body: '{}' } })).rejects.toMatchObject({
      name: 'ProviderUnavailableError',
    });
    await expect(signIn({ tokens: { status: 401, body: '{"error":"invalid_client"}' } })).rejects.toMatchObject({
      name: 'ProviderUnavailableError',
    });
  });

  it('is asked for its metadata once for all sign-ins, and again after a while', async () => {
    let now = 0;
    const provider = ours({ now: () => now });
    const before = hostile.received.length;
    await Promise.all([provider.begin(), provider.begin(), provider.begin()]);
    await provider.begin();
    now = 600_001;
    await provider.begin();
    expect(hostile.received.slice(before)).toEqual(Array(2).fill('/.well-known/openid-configuration'));
  });
});
