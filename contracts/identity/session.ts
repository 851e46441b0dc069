import { z } from 'zod';
import { timestamp } from '../common';
import { role } from '../permissions';
import { listPage } from '../query';

/** How a user proved who it is when it signed in. */
export const sessionMethod = z.enum(['password', 'oidc']);
export type SessionMethod = z.infer<typeof sessionMethod>;

export const sessionId = z.string().regex(/^session_[0-9a-f]{24}$/, 'must be session_ and 24 hexadecimal digits');

/** The fewest characters of a password. */
export const minPasswordLength = 8;

/**
 * A password as it is sent. That it is there, and long enough, is checked by the operation, whose refusals have codes of their
 * own: MISSING_PASSWORD and PASSWORD_TOO_SHORT.
 */
const password = z.string().max(1_024).optional();

export const setupBody = z
  .strictObject({
    /** The code that the service wrote to its log when it started. */
    code: z.string().max(100),
    password,
  })
  .meta({ id: 'SetupBody' });

export const loginBody = z
  .strictObject({
    password,
    /** The session ends after 30 days, and not after one. */
    rememberMe: z.boolean().optional(),
  })
  .meta({ id: 'LoginBody' });

export const recoverBody = z
  .strictObject({ recoveryKey: z.string().max(200), newPassword: password })
  .meta({ id: 'RecoverBody' });

export const changePasswordBody = z
  .strictObject({ currentPassword: password, newPassword: password })
  .meta({ id: 'ChangePasswordBody' });

/** How long the former secret stays valid, in milliseconds. INVALID_GRACE_PERIOD where it is no such number. */
export const rotateSecretBody = z
  .strictObject({ gracePeriodMs: z.number().optional() })
  .meta({ id: 'RotateSecretBody' });

/** What a sign-in returns; the cookie `board_session` has the same token. */
export const signedIn = z
  .object({
    /** A JSON Web Token, also accepted as a bearer token. */
    token: z.string(),
    role,
    /** Seconds until the session ends. */
    expiresIn: z.number().int(),
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.infer<typeof signedIn>;

/** The recovery key sets another password once. It is shown here only. */
const recoveryKey = z.string();

export const setUp = z.object({ ...signedIn.shape, recoveryKey }).meta({ id: 'SetUp' });

export const recovered = z.object({ recoveryKey }).meta({ id: 'Recovered' });

export const rotationStatus = z
  .object({
    /** When the present secret was made. */
    createdAt: timestamp,
    /** When a secret was replaced the last time. */
    rotatedAt: timestamp.nullable(),
    /** Former secrets that are still valid, the latest first. */
    former: z.array(z.object({ createdAt: timestamp, validUntil: timestamp })),
  })
  .meta({ id: 'RotationStatus' });

export const authStatus = z
  .object({
    /** No password was set yet. */
    needsSetup: z.boolean(),
    authenticated: z.boolean(),
    /** When the caller's session ends, if it has one. */
    sessionExpiry: timestamp.nullable(),
    authEnabled: z.boolean(),
    /** Whether users sign in with an OpenID Connect provider: at `GET /api/auth/oidc/login`. */
    oidc: z.boolean(),
    role: role.nullable(),
  })
  .meta({ id: 'AuthStatus' });

export const authContext = z
  .strictObject({
    role,
    userId: z.string(),
    workspaceId: z.string(),
    actorType: z.string(),
    authMethod: z.string(),
    /** When the caller signed in, if it has a session. */
    authenticatedAt: timestamp.optional(),
    tokenName: z.string(),
    permissions: z.array(z.string()).readonly(),
    actor: z.string(),
    /** Whether the caller may act in every workspace. */
    administersInstallation: z.literal(true).optional(),
    /** Of an API token, and whether its secret is the one before the last rotation. */
    tokenId: z.string().optional(),
    isFormerSecret: z.boolean().optional(),
    sessionId: z.string().optional(),
    membershipId: z.string().optional(),
    deviceSessionId: z.string().optional(),
    deviceId: z.string().optional(),
    clientId: z.string().optional(),
    clientMode: z.string().optional(),
    capabilities: z.array(z.string()).readonly().optional(),
    /** Why the caller has less than was once approved. */
    degradedReason: z.string().optional(),
  })
  .meta({ id: 'AuthContext' });

export const session = z
  .object({
    id: sessionId,
    method: sessionMethod,
    workspaceId: z.string(),
    role,
    createdAt: timestamp,
    /** To the minute. */
    lastUsedAt: timestamp,
    expiresAt: timestamp,
    /** Whether the request that reads this came with it. */
    current: z.boolean(),
    address: z.string().optional(),
    userAgent: z.string().optional(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof session>;

export const sessionQuery = z.strictObject(listPage(50, 100)).meta({ id: 'SessionQuery' });

export const wsTicket = z
  .object({
    /** Opens one WebSocket: `/ws?ticket=…`. */
    ticket: z.string(),
    /** Seconds until it is worth nothing. */
    expiresIn: z.number().int(),
  })
  .meta({ id: 'WsTicket' });
