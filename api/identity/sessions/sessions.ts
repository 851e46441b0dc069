import { localWorkspace } from '../../../contracts/common';
import type { SessionMethod, SignedIn } from '../../../contracts/identity/session';
import type { Role } from '../../../contracts/permissions';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { CredentialRequest, CredentialVerifier } from '../../../platform/http/auth/credentials';
import { isLocalRequest } from '../../../platform/http/auth/loopback';
import type { HttpContext } from '../../../platform/http/context';
import { type CallerAddress, socketAddress } from '../../../platform/http/limits/caller-address';
import { compact } from '../../../platform/json/compact';
import type { Log } from '../../../platform/log/log';
import { newRecordId } from '../../../platform/operations/operation';
import type { SessionStores } from '../../../stores/identity/sessions/open';
import type { SessionRecord } from '../../../stores/identity/sessions/session-store';
import { assertInstallationAdmin } from '../caller';
import { sessionCookieHeader } from './cookie';
import type { SessionTokens } from './session-token';

const day = 86_400_000;
/** How long a session lasts, in milliseconds. */
export const sessionTimes = { usual: day, remembered: 30 * day };

/** What its owner's client may do on this machine: start agents and steer them, and nothing else. */
export const sessionCapabilities = ['local-agent:run'] as const;

/** A sign-in that has succeeded. */
export interface SignIn {
  userId: string;
  workspaceId: string;
  role: Role;
  method: SessionMethod;
  /** Of the password that was entered. */
  passwordRevision?: number;
  /** For thirty days, and not for one. */
  rememberMe?: boolean | undefined;
  /** The session that this one is instead of. */
  replaces?: string | undefined;
}

/** Makes a session and sets its cookie on the response. It is a new one, whatever session the request came with: that one ends. */
export type IssueSession = (ctx: HttpContext, signIn: SignIn) => Promise<SignedIn>;

/** What a session's user may do. */
export type Standing = Pick<AuthContext, 'role' | 'permissions' | 'membershipId' | 'degradedReason' | 'capabilities'>;

/** What a session's user may do now, as the stores have it; `undefined` when it may do nothing any more. */
export type SessionStanding = (session: SessionRecord) => Promise<Standing | undefined>;

export interface SessionOptions {
  /** Cookies of sessions are sent over TLS only, and to this machine. */
  secureCookies: boolean;
  standing: SessionStanding;
  tokens: SessionTokens;
  log: Log;
  addressOf?: CallerAddress;
  now: () => Date;
}

/** @throws AppError 403 for a request that does not come from this machine, to this machine, by a page of this machine if any */
export function assertLocalOwner({ headers, connection }: CredentialRequest): void {
  if (!isLocalRequest(headers, connection)) {
    throw new AppError('PASSWORD_SESSION_LOCAL_ONLY', {
      status: 403,
      message:
        'Passwords and their sessions are for the owner of this machine, at its own address such as http://localhost:3001. ' +
        'From elsewhere, use an API token, a paired device or a key.',
    });
  }
}

/** What is one for all workspaces is administered from `local`. @throws AppError 403 */
export function assertOfInstallation(auth: AuthContext): void {
  assertInstallationAdmin(auth);
  const { workspaceId, role, permissions } = auth;
  if (workspaceId !== localWorkspace) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: `This concerns the whole installation: it is done in the workspace ${localWorkspace}.`,
      details: { required: ['admin:manage'], currentRole: role, currentPermissions: permissions, workspaceId },
    });
  }
}

/** What the owner of this machine has beside its membership. */
const ofOwner = (role: Role): Pick<AuthContext, 'capabilities' | 'administersInstallation'> => ({
  capabilities: sessionCapabilities,
  ...(role === 'admin' && { administersInstallation: true }),
});

/** The sessions of users who have signed in: how they begin, and who calls with one. */
export function createSessions(stores: Pick<SessionStores, 'passwords' | 'sessions'>, options: SessionOptions) {
  const { secureCookies, standing, tokens, log, addressOf = socketAddress, now } = options;

  /** Whether the password that was entered for a session is still the present one. */
  async function hasItsPassword({ method, userId, passwordRevision }: SessionRecord): Promise<boolean> {
    return method !== 'password' || (await stores.passwords.get(userId))?.revision === passwordRevision;
  }

  /** The session that a token names, if it is open. */
  async function openSession(token: string): Promise<SessionRecord | undefined> {
    const claims = await tokens.verify(token);
    const session = claims && (await stores.sessions.get(claims.sessionId));
    return session?.userId === claims?.userId ? session : undefined;
  }

  async function noteUse(session: SessionRecord): Promise<void> {
    try {
      await stores.sessions.use(session);
    } catch (err) {
      // What a session is used for may only read, while nothing can be written.
      log.warn({ err, sessionId: session._id }, 'last use of a session not recorded');
    }
  }

  const verifier: CredentialVerifier = async ({ carrier, value }, request) => {
    const session = carrier === 'cookie' || carrier === 'bearer' ? await openSession(value) : undefined;
    // Whatever it depends on is read on each use.
    const [isSigned, present] = session ? await Promise.all([hasItsPassword(session), standing(session)]) : [];
    if (!session || !isSigned || !present) {
      return undefined;
    }
    if (session.method === 'password') {
      assertLocalOwner(request);
    }
    await noteUse(session);
    const { _id, userId, workspaceId, createdAt } = session;
    return {
      ...present,
      userId,
      workspaceId,
      actorType: 'user',
      authMethod: 'session',
      authenticatedAt: createdAt,
      tokenName: userId,
      actor: `user:${userId}`,
      sessionId: _id,
      ...(session.method === 'password' && ofOwner(present.role)),
    };
  };

  const issueSession: IssueSession = async (ctx, { rememberMe = false, passwordRevision, replaces, ...signIn }) => {
    const at = now();
    const lastsMs = rememberMe ? sessionTimes.remembered : sessionTimes.usual;
    const expiresAt = new Date(at.getTime() + lastsMs);
    const _id = newRecordId('session', 12);
    const token = await tokens.sign({ sessionId: _id, userId: signIn.userId }, expiresAt);
    await stores.sessions.add({
      _id,
      ...signIn,
      ...compact({
        passwordRevision,
        address: addressOf(ctx.req),
        userAgent: ctx.get('User-Agent').slice(0, 200) || undefined,
      }),
      createdAt: at.toISOString(),
      lastUsedAt: at.toISOString(),
      expiresAt: expiresAt.toISOString(),
      remembered: rememberMe,
    });
    if (replaces !== undefined) {
      await stores.sessions.end(signIn.userId, replaces);
    }
    const expiresIn = Math.floor(lastsMs / 1_000);
    ctx.append('Set-Cookie', sessionCookieHeader(token, expiresIn, { secure: secureCookies }));
    return { token, role: signIn.role, expiresIn };
  };

  return { verifier, issueSession };
}
