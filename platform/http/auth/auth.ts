import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKey, Role } from '../../config/env';
import {
  type CredentialRequest,
  type CredentialVerifier,
  type PresentedCredential,
  presentedCredentials,
} from './credentials';
import type { LocalAgentCapability } from './local-agent';
import { type Connection, isDirectRequest, isLocalRequest, type OriginRules } from './loopback';

/** The workspace of those who name none: its records have the names that they had before there were others. */
export const localWorkspaceId = 'local';

/** What proved who is calling. */
export type AuthMethod =
  | 'none'
  | 'attempt-handle'
  | 'tool-bridge'
  | 'disabled'
  | 'session'
  | 'api-key'
  | 'device-session'
  | 'localhost-bypass';

/** Who is calling and what they may do (specification 1, Authentication, rule 5). */
export interface AuthContext {
  role: Role;
  userId: string;
  workspaceId: string;
  actorType: 'user' | 'agent' | 'service' | 'device' | 'localhost-bypass';
  /** `none`: a caller without a valid credential, on a route that is open to every caller. */
  authMethod: AuthMethod;
  /**
   * When the caller proved who it is, for a session that outlives that; absent where every request proves it (ISO 8601).
   */
  authenticatedAt?: string;
  /** What a paired device declared to be: `desktop-local`, `cli`, `mobile` and the like. */
  clientMode?: string;
  /**
   * Whether it administers the installation, by a key of the environment or as this machine's own user, and so may act in every
   * workspace. An administrator of a workspace has no power over another one.
   */
  administersInstallation?: true;
  tokenName: string;
  permissions: readonly string[];
  /** Of a session: its record. */
  sessionId?: string;
  /** Of a paired device: its session, the device, and the client on it. */
  deviceSessionId?: string;
  deviceId?: string;
  clientId?: string;
  /** What the client of a session or of a device may do on its machine, e.g. `local-agent:run`. */
  capabilities?: readonly string[];
  /** What carried the credential, where it is one that is kept in the stores and may be revoked. */
  carrier?: PresentedCredential['carrier'];
  /** Why the caller has less than was once approved. */
  degradedReason?: string;
  /** The membership of the workspace that gives the caller its role. */
  membershipId?: string;
  /** Of an API token: its record. */
  tokenId?: string;
  /** Whether the secret of the API token is the one before its last rotation. */
  isFormerSecret?: boolean;
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
  /** Of the credentials that are kept in the stores; asked in this order, after the keys of the environment. */
  verifiers: readonly CredentialVerifier[];
}

/**
 * Identifies the sender of a request (or a WebSocket upgrade) from what it carries; `undefined` when it carries no valid
 * credential. A wrong one is never made good by the bypass for local callers.
 *
 * @param connection the request's; forwarding headers are not trusted, they end access without a key
 * @param queryKey key from the query string, which only the WebSocket upgrade may use
 */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  connection: Connection,
  queryKey?: string,
) => Promise<AuthContext | undefined>;

/**
 * Identifies the owner of credentials that were taken from a request before, such as for an open WebSocket: the same as for a
 * request that presents them now.
 */
export type Identify = (
  credentials: readonly PresentedCredential[],
  request: CredentialRequest,
) => Promise<AuthContext | undefined>;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Identifies the sender of a request by what it presents. */
export const authenticateWith =
  (identify: Identify): Authenticate =>
  (headers, connection, queryKey) =>
    identify(presentedCredentials(headers, queryKey), { headers, connection });

export function createIdentifier(settings: AuthSettings): Identify {
  const describe = (
    role: Role,
    {
      actorType,
      authMethod,
      name,
      ...rest
    }: Pick<AuthContext, 'actorType' | 'authMethod' | 'capabilities'> & { name: string },
  ): AuthContext => ({
    role,
    userId: 'local-user',
    workspaceId: localWorkspaceId,
    actorType,
    authMethod,
    tokenName: name,
    permissions: settings.rolePermissions[role],
    actor: `${actorType}:${name}`,
    ...rest,
    ...(role === 'admin' && { administersInstallation: true as const }),
  });

  // Who has a key of the environment may use it from anywhere.
  const capabilities: readonly LocalAgentCapability[] = ['agent:run:unrestricted'];
  const admin: ApiKey[] = settings.adminKey ? [{ name: 'admin', key: settings.adminKey, role: 'admin' }] : [];
  const keys = [...admin, ...settings.apiKeys].map(({ name, key, role }) => ({
    digest: sha256(key),
    auth: describe(role, {
      actorType: role === 'agent' ? 'agent' : 'service',
      authMethod: 'api-key',
      name,
      capabilities,
    }),
  }));
  const open = settings.enabled
    ? undefined
    : describe('admin', { actorType: 'user', authMethod: 'disabled', name: 'local-user', capabilities });
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

  const verified: CredentialVerifier = async (credential, request) => {
    for (const verify of settings.verifiers) {
      const caller = await verify(credential, request);
      if (caller) {
        return { ...caller, carrier: credential.carrier };
      }
    }
    return undefined;
  };

  return async (credentials, request) => {
    const { headers, connection } = request;
    if (open && isDirectRequest(headers, connection, settings.origins)) {
      return open;
    }
    for (const credential of credentials) {
      const holder = credential.carrier === 'cookie' ? undefined : keyHolder(credential.value);
      const caller = holder ?? (await verified(credential, request));
      if (caller) {
        return caller;
      }
    }
    return credentials.length === 0 && local && isLocalRequest(headers, connection) ? local : undefined;
  };
}

/** The identification of requests, from their headers. */
export const createAuthenticator = (settings: AuthSettings): Authenticate =>
  authenticateWith(createIdentifier(settings));
