import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** How a provider responds that does not do what it should. */
export interface Misconduct {
  metadata?: Record<string, unknown>;
  /** Replaces or removes (`undefined`) claims of the ID token. */
  claims?: Record<string, unknown>;
  /** Makes the ID token; the default is signed as it should be. */
  idToken?: (claims: JWTPayload) => string | Promise<string>;
  /** The whole response of the token endpoint. */
  tokens?: { status: number; body: string };
  /** What the user information claims. */
  userinfo?: Record<string, unknown>;
}

export interface HostileProvider {
  issuer: string;
  /** The paths of the requests that it received. */
  received: string[];
  /** The last request for tokens. */
  tokenRequest(): { authorization: string | undefined; form: URLSearchParams };
  behave(misconduct: Misconduct): void;
  /** What the next ID token is about. */
  expect(nonce: string): void;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token that nobody has signed. */
export const unsigned = (claims: JWTPayload): string => `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;

/** A provider that a test makes misbehave, in this process; its client is `board`. */
export async function startHostileProvider(): Promise<HostileProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }] };
  const received: string[] = [];
  let misconduct: Misconduct = {};
  let nonce = '';
  let tokenRequest: ReturnType<HostileProvider['tokenRequest']> = {
    authorization: undefined,
    form: new URLSearchParams(),
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', issuer).pathname;
    received.push(path);
    void respond(path, request).then(({ status, body }) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const sign = (claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own', ...header }).sign(privateKey);

  async function respond(path: string, request: IncomingMessage): Promise<{ status: number; body: string }> {
    const body = await text(request);
    if (path === '/.well-known/openid-configuration') {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        ...misconduct.metadata,
      };
      return { status: 200, body: JSON.stringify(metadata) };
    }
    if (path === '/jwks') {
      return { status: 200, body: JSON.stringify(jwks) };
    }
    if (path === '/userinfo') {
      return { status: 200, body: JSON.stringify(misconduct.userinfo) };
    }
    tokenRequest = { authorization: request.headers.authorization, form: new URLSearchParams(body) };
    if (misconduct.tokens) {
      return misconduct.tokens;
    }
    const seconds = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: 'board',
      sub: 'ann',
      iat: seconds,
      exp: seconds + 300,
      nonce,
      ...misconduct.claims,
    };
    const idToken = await (misconduct.idToken ?? sign)(claims);
    return { status: 200, body: JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: idToken }) };
  }

  return {
    issuer,
    received,
    tokenRequest: () => tokenRequest,
    behave(next) {
      misconduct = next;
    },
    expect(next) {
      nonce = next;
    },
    sign,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
