import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKey, Role } from '../../config/env';
import { type Connection, isDirectRequest, isLocalRequest, type OriginRules } from './loopback';

/** Who is calling and what they may do (specification 1, Authentication, rule 5). */
export interface AuthContext {
  role: Role;
  userId: string;
  workspaceId: string;
  actorType: 'user' | 'agent' | 'service' | 'device' | 'localhost-bypass';
  /** `none`: a caller without a valid credential, on a route that is open to every caller. */
  authMethod: 'none' | 'attempt-handle' | 'disabled' | 'session' | 'api-key' | 'device-session' | 'localhost-bypass';
  /**
   * When the caller proved who it is, for a session that outlives that; absent where every request proves it (ISO 8601).
   */
  authenticatedAt?: string;
  /** What a paired device declared to be: `desktop-local`, `cli`, `mobile` and the like. */
  clientMode?: string;
  tokenName: string;
  permissions: readonly string[];
  /** Of the agent that presents the handle of its attempt: that attempt. */
  attemptId?: string;
  /** `<actorType>:<name>`: what `createdBy` and `updatedBy` record. */
  actor: string;
}

export interface AuthSettings {
  /** `false`: every caller of this server, directly, by its own name or address, is an administrator. */
  enabled: boolean;
  /** Which pages may call where no key is required. */
  origins: OriginRules;
  adminKey?: string;
  apiKeys: readonly ApiKey[];
  /** Role of callers on this machine that present no key; absent: they need one like all others. */
  localRole?: Role;
  rolePermissions: Record<Role, readonly string[]>;
}

/**
 * Identifies the sender of a request (or a WebSocket upgrade) from what it carries; `undefined` when it carries no valid
 * credential. A wrong key is never made good by the bypass for local callers.
 *
 * @param connection the request's; forwarding headers are not trusted, they end access without a key
 * @param queryKey key from the query string, which only the WebSocket upgrade may use
 */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  connection: Connection,
  queryKey?: string,
) => AuthContext | undefined;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The key a request presents: a bearer token, else `X-API-Key`, else the query's. */
export function presentedKey(headers: IncomingHttpHeaders, queryKey?: string): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const header = headers['x-api-key'];
  return bearer ?? (Array.isArray(header) ? header[0] : header) ?? queryKey;
}

export function createAuthenticator(settings: AuthSettings): Authenticate {
  const describe = (
    role: Role,
    { actorType, authMethod, name }: Pick<AuthContext, 'actorType' | 'authMethod'> & { name: string },
  ): AuthContext => ({
    role,
    userId: 'local-user',
    workspaceId: 'local',
    actorType,
    authMethod,
    tokenName: name,
    permissions: settings.rolePermissions[role],
    actor: `${actorType}:${name}`,
  });

  const admin: ApiKey[] = settings.adminKey ? [{ name: 'admin', key: settings.adminKey, role: 'admin' }] : [];
  const keys = [...admin, ...settings.apiKeys].map(({ name, key, role }) => ({
    digest: sha256(key),
    auth: describe(role, { actorType: role === 'agent' ? 'agent' : 'service', authMethod: 'api-key', name }),
  }));
  const open = settings.enabled
    ? undefined
    : describe('admin', { actorType: 'user', authMethod: 'disabled', name: 'local-user' });
  const local =
    settings.localRole &&
    describe(settings.localRole, {
      actorType: 'localhost-bypass',
      authMethod: 'localhost-bypass',
      name: 'localhost-bypass',
    });

  /** Compares with every key, so that the time it takes reveals nothing about which one was close. */
  const keyHolder = (key: string): AuthContext | undefined => {
    const digest = sha256(key);
    let holder: AuthContext | undefined;
    for (const candidate of keys) {
      if (timingSafeEqual(digest, candidate.digest)) {
        holder ??= candidate.auth;
      }
    }
    return holder;
  };

  return (headers, connection, queryKey) => {
    if (open && isDirectRequest(headers, connection, settings.origins)) {
      return open;
    }
    const key = presentedKey(headers, queryKey);
    if (key !== undefined) {
      return keyHolder(key);
    }
    return local && isLocalRequest(headers, connection) ? local : undefined;
  };
}
