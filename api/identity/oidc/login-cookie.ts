import { hkdfSync, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { decodeProtectedHeader, EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { returnTo } from '../../../contracts/identity/oidc';
import { cookieOf } from '../../../platform/http/auth/credentials';
import type { SessionSecretStore } from '../../../stores/identity/sessions/session-secret-store';

/** How long a sign-in at the provider may take, in milliseconds. */
export const loginLastsMs = 600_000;

const audience = 'runboard-oidc-login';
const content = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), returnTo });

/** A sign-in that was begun in a browser. */
export interface PendingLogin extends z.infer<typeof content> {
  /** Names it, since it counts once. */
  id: string;
}

export interface LoginCookieOptions {
  secrets: Pick<SessionSecretStore, 'read'>;
  /** Whether browsers reach the service over TLS. */
  secure: boolean;
  now: () => Date;
}

const keyOf = (secret: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', Buffer.from(secret, 'base64url'), '', 'runboard oidc login v1', 32));

/**
 * What a browser has to come back with from the provider, in a cookie that only this service can read and make. It binds the
 * sign-in to the browser that began it. Over TLS, its name keeps other hosts of the same domain from setting it.
 */
export function createLoginCookies({ secrets, secure, now }: LoginCookieOptions) {
  const name = secure ? '__Host-board_oidc_login' : 'board_oidc_login';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;

  async function secretNamed(kid: unknown): Promise<string | undefined> {
    const { current, former } = await secrets.read();
    return [current, ...former].find((one) => one.kid === kid)?.secret;
  }

  return {
    /** The `Set-Cookie` header that makes the browser forget its sign-in. */
    none: `${name}=; Max-Age=0; ${attributes}`,

    /** The `Set-Cookie` header of a sign-in that begins. */
    async header(login: Omit<PendingLogin, 'id'>): Promise<string> {
      const { kid, secret } = (await secrets.read()).current;
      const at = now();
      const token = await new EncryptJWT({ ...login })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid })
        .setAudience(audience)
        .setJti(randomUUID())
        .setExpirationTime(new Date(at.getTime() + loginLastsMs))
        .encrypt(keyOf(secret));
      return `${name}=${token}; Max-Age=${loginLastsMs / 1_000}; ${attributes}`;
    },

    /** The sign-in that the browser began; `undefined` when it began none here, or too long ago. */
    async read(headers: IncomingHttpHeaders): Promise<PendingLogin | undefined> {
      const token = cookieOf(headers, name);
      if (token === undefined) {
        return undefined;
      }
      try {
        const secret = await secretNamed(decodeProtectedHeader(token).kid);
        if (secret === undefined) {
          return undefined;
        }
        const { payload } = await jwtDecrypt(token, keyOf(secret), {
          audience,
          currentDate: now(),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp', 'jti'],
        });
        const { aud: _audience, exp: _expiry, jti: id = '', ...login } = payload;
        return { ...content.parse(login), id };
      } catch {
        // Whatever is wrong with it: it is not one that was made here.
        return undefined;
      }
    },
  };
}
