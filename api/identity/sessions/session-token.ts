import { createSecretKey, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import type { SessionSecrets, SessionSecretStore } from '../../../stores/identity/sessions/session-secret-store';

/** What the token of a session names. What the session may do is not in it, but in its record. */
export interface SessionClaims {
  sessionId: string;
  userId: string;
}

const algorithm = 'HS256';
const issuer = 'runboard';
const audience = 'runboard-session';
const form = /^eyJ[A-Za-z0-9_-]{1,400}\.[A-Za-z0-9_-]{1,1000}\.[A-Za-z0-9_-]{1,100}$/;

/** How long the secrets are used that were read, in milliseconds: so long may one that was replaced without grace be accepted. */
const readEveryMs = 1_000;

interface VerificationKey {
  key: KeyObject;
  /** Of a former secret (ISO 8601). */
  validUntil?: string;
}

interface VerifiedToken {
  kid: string;
  claims: SessionClaims;
  expiresAtMs: number;
}

/** Verified tokens that are remembered; beyond them the one that was verified first is verified again. */
const maxVerified = 2_000;

interface Keys {
  current: { kid: string; key: KeyObject };
  byKid: Map<string, VerificationKey>;
  readAtMs: number;
}

const keyOf = (secret: string): KeyObject => createSecretKey(Buffer.from(secret, 'base64url'));

function keysOf({ current, former }: SessionSecrets, readAtMs: number): Keys {
  const own = { kid: current.kid, key: keyOf(current.secret) };
  return {
    current: own,
    byKid: new Map<string, VerificationKey>([
      [own.kid, { key: own.key }],
      ...former.map(({ kid, secret, validUntil }): [string, VerificationKey] => [
        kid,
        { key: keyOf(secret), validUntil },
      ]),
    ]),
    readAtMs,
  };
}

/** Signs and verifies the tokens of sessions (JWT, HMAC-SHA-256) with the secrets of the stores. */
export function createSessionTokens(secrets: Pick<SessionSecretStore, 'read'>, now: () => Date) {
  let known: Promise<Keys> | undefined;
  /** Tokens whose signature was verified: that it is right does not change, but whether its key and its time are over does. */
  const verified = new Map<string, VerifiedToken>();

  const read = (): Promise<Keys> => {
    const readAtMs = now().getTime();
    const reading = secrets.read().then((found) => keysOf(found, readAtMs));
    known = reading;
    reading.catch(() => {
      known = undefined;
    });
    return reading;
  };

  function remember(token: string, found: VerifiedToken): void {
    verified.set(token, found);
    if (verified.size > maxVerified) {
      verified.delete(verified.keys().next().value ?? token);
    }
  }

  async function keys(): Promise<Keys> {
    const found = await known;
    return found && now().getTime() - found.readAtMs < readEveryMs ? found : read();
  }

  /** The key of this name, if it is valid: another process may have made it just now. */
  async function keyNamed(kid: string): Promise<KeyObject | undefined> {
    const found = (await keys()).byKid.get(kid) ?? (await read()).byKid.get(kid);
    const isValid = found && (found.validUntil === undefined || found.validUntil > now().toISOString());
    return isValid ? found.key : undefined;
  }

  return {
    /** Reads the secrets again before the next use, after this process has changed them. */
    forget(): void {
      known = undefined;
    },

    async sign({ sessionId, userId }: SessionClaims, expiresAt: Date): Promise<string> {
      const { kid, key } = (await read()).current;
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt(now())
        .setExpirationTime(expiresAt)
        .sign(key);
    },

    /** `undefined` for whatever is no valid token of a session. */
    async verify(token: string): Promise<SessionClaims | undefined> {
      const before = verified.get(token);
      const kid = before?.kid ?? (form.test(token) ? kidOf(token) : undefined);
      const key = kid === undefined ? undefined : await keyNamed(kid);
      if (kid === undefined || !key) {
        return undefined;
      }
      if (before) {
        return before.expiresAtMs > now().getTime() ? before.claims : undefined;
      }
      try {
        const options = { algorithms: [algorithm], issuer, audience, requiredClaims: ['exp'], currentDate: now() };
        const { sid, sub, exp = 0 } = (await jwtVerify(token, key, options)).payload;
        if (typeof sid !== 'string' || sub === undefined) {
          return undefined;
        }
        const claims = { sessionId: sid, userId: sub };
        remember(token, { kid, claims, expiresAtMs: exp * 1_000 });
        return claims;
      } catch {
        // Whatever is wrong with it, it is no token of a session.
        return undefined;
      }
    },
  };
}

/** The name of the key in the header of a token. */
function kidOf(token: string): string | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return alg === algorithm && typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

export type SessionTokens = ReturnType<typeof createSessionTokens>;
