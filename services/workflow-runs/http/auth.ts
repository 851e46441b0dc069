import { createVerifier } from 'fast-jwt';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext, Authenticate } from '../../../platform/http/auth/auth';

export interface JwtSettings {
  /** Ed25519 public key as PEM. Without one every token is invalid. */
  publicKey: string | undefined;
  issuer: string;
  /** The users that may call; none by default. */
  users: readonly string[];
}

/** The one permission of this service: it covers all of the service. */
export const usePermission = 'workflow-runs';

/** Tokens issued later than this from now are refused, in seconds: clocks differ. */
const toleratedSecs = 60;

const isIssuedLater = (issuedAt: unknown): boolean =>
  typeof issuedAt !== 'number' || issuedAt > Date.now() / 1_000 + toleratedSecs;

/** The user a token speaks for: the last part of the path in `sub`, which is a URL. */
function userOf(subject: unknown): string | undefined {
  const url = typeof subject === 'string' ? URL.parse(subject) : null;
  const name = url?.pathname.split('/').at(-1);
  return name ? decodeURIComponent(name) : undefined;
}

const contextOf = (user: string): AuthContext => ({
  role: 'agent',
  userId: user,
  workspaceId: 'workflow-runs',
  actorType: 'user',
  authMethod: 'api-key',
  tokenName: user,
  permissions: [usePermission],
  actor: `user:${user}`,
});

/**
 * Reads `Authorization: Bearer <JWT>` signed with Ed25519, with `iss`, `iat`, `exp` and `sub`.
 *
 * @returns a function that resolves to `undefined` for a missing, expired or invalid token, also one that is issued in the future
 * (401), and rejects with 403 for a user who is not on the list
 */
export function createJwtAuthenticator({ publicKey, issuer, users }: JwtSettings): Authenticate {
  const verify =
    publicKey === undefined
      ? undefined
      : createVerifier({
          key: publicKey,
          algorithms: ['EdDSA'],
          allowedIss: issuer,
          requiredClaims: ['iss', 'iat', 'exp', 'sub'],
          cache: true,
        });
  const allowed = new Set(users);

  const callerOf = (authorization: string | undefined): AuthContext | undefined => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined || !verify) {
      return undefined;
    }
    let user: string | undefined;
    try {
      const { sub, iat } = verify(token) as { sub?: unknown; iat?: unknown };
      user = isIssuedLater(iat) ? undefined : userOf(sub);
    } catch {
      // Whatever is wrong with it: the caller is asked for another one.
      return undefined;
    }
    if (user === undefined) {
      return undefined;
    }
    if (!allowed.has(user)) {
      throw new AppError('FORBIDDEN', { status: 403, message: 'Access denied.' });
    }
    return contextOf(user);
  };
  return async ({ authorization }) => callerOf(authorization);
}
