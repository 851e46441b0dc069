import { z } from 'zod';
import { localWorkspace } from '../../../contracts/common';
import {
  changePasswordBody,
  loginBody,
  recoverBody,
  recovered,
  setUp,
  setupBody,
  signedIn,
} from '../../../contracts/identity/session';
import { localUser } from '../../../contracts/identity/user';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import type { PasswordRecord } from '../../../stores/identity/sessions/password-store';
import type { ApiContext } from '../../context';
import { noSessionCookie, usesSecureCookies } from './cookie';
import { createAuthLimit } from './limits';
import { createPasswordChecks, hashOfNew, newRecoveryKey } from './passwords';
import { assertLocalOwner, assertOfInstallation } from './sessions';

/** The user that the password is of. */
export const owner = localUser;

const post = { method: 'post', tag: 'auth', permission: 'public', idempotency: 'none' } as const;

/** Signing in with the password of this machine's owner (specification 1, Auth and identity). */
export function passwordRoutes(routes: Routes, context: ApiContext): void {
  const { env, issueSession, passwords, recordAudit, sessions, setupCodes } = context;
  const limit = createAuthLimit(context);
  const checks = createPasswordChecks(context);
  const cookie = { secure: usesSecureCookies(env) };
  const audit = (action: string, resource: string = owner) => recordAudit({ action, actor: `user:${owner}`, resource });

  /** What every request with a password, or instead of one, passes before anything of it is looked at. */
  async function admit(ctx: HttpContext): Promise<void> {
    assertLocalOwner({ headers: ctx.req.headers, connection: ctx.req.socket });
    await limit(ctx);
  }

  const signIn = (ctx: HttpContext, { revision }: PasswordRecord, { sessionId, rememberMe }: SignInOptions) =>
    issueSession(ctx, {
      userId: owner,
      workspaceId: localWorkspace,
      role: 'admin',
      method: 'password',
      passwordRevision: revision,
      rememberMe,
      replaces: sessionId,
    });

  routes.add(
    {
      ...post,
      path: '/auth/setup',
      operationId: 'setUpAuth',
      summary: 'Set the first password with the code from the log of the service, and sign in',
      body: setupBody,
      response: setUp,
      errors: [401, 409, 429],
    },
    async ({ body: { code, password } }, ctx) => {
      await admit(ctx);
      if (await passwords.get(owner)) {
        throw alreadySetUp();
      }
      if (!(await setupCodes.has(code))) {
        const message = 'The setup code is wrong or too old. Each start of the service writes one to its log.';
        throw new AppError('INVALID_SETUP_CODE', { status: 401, message });
      }
      const { recoveryKey, recoveryHash } = newRecoveryKey();
      const record = await passwords.create(owner, { passwordHash: await hashOfNew(password), recoveryHash });
      if (!record) {
        throw alreadySetUp();
      }
      await setupCodes.clear();
      await audit('auth.setup');
      return { ...(await signIn(ctx, record, {})), recoveryKey };
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in with the password',
      body: loginBody,
      response: signedIn,
      errors: [401, 403, 409, 429],
    },
    async ({ body: { password, rememberMe }, auth: { sessionId } }, ctx) => {
      await admit(ctx);
      const record = await checks.assertPassword(ctx, owner, { password, code: 'INVALID_PASSWORD' });
      const answer = await signIn(ctx, record, { sessionId, rememberMe });
      await audit('auth.login');
      return answer;
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'Sign out: the session that the request comes with ends',
      response: z.undefined(),
      status: 204,
    },
    async ({ auth: { sessionId, userId, actor } }, ctx) => {
      if (sessionId !== undefined && (await sessions.end(userId, sessionId))) {
        await recordAudit({ action: 'auth.logout', actor, resource: sessionId });
      }
      ctx.append('Set-Cookie', noSessionCookie(cookie));
      return undefined;
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/recover',
      operationId: 'recoverAuth',
      summary: 'Set another password with the recovery key; every session ends, and there is a new recovery key',
      body: recoverBody,
      response: recovered,
      errors: [401, 403, 409, 429],
    },
    async ({ body: { recoveryKey: presented, newPassword } }, ctx) => {
      await admit(ctx);
      const record = await checks.assertRecoveryKey(ctx, owner, presented);
      const { recoveryKey, recoveryHash } = newRecoveryKey();
      await replaced(record, { passwordHash: await hashOfNew(newPassword), recoveryHash });
      await audit('auth.recover');
      await sessions.endOthers(owner);
      ctx.append('Set-Cookie', noSessionCookie(cookie));
      return { recoveryKey };
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/change-password',
      operationId: 'changePassword',
      summary: 'Set another password; every session ends, and the caller gets a new one',
      permission: 'admin:manage',
      body: changePasswordBody,
      response: signedIn,
      errors: [401, 409, 429],
    },
    async ({ body: { currentPassword, newPassword }, auth }, ctx) => {
      assertOfInstallation(auth);
      await admit(ctx);
      const code = 'INVALID_CURRENT_PASSWORD';
      const record = await checks.assertPassword(ctx, owner, { password: currentPassword, code });
      const changed = await replaced(record, { passwordHash: await hashOfNew(newPassword) });
      await audit('auth.password-change');
      // None of these is accepted any more; their records go.
      await sessions.endOthers(owner);
      return signIn(ctx, changed, {});
    },
  );

  /** @throws AppError 409 when another request has changed the password meanwhile */
  async function replaced(
    record: PasswordRecord,
    hashes: Parameters<typeof passwords.replace>[1],
  ): Promise<PasswordRecord> {
    const changed = await passwords.replace(record, hashes);
    if (!changed) {
      throw conflict('The password was changed by another request. Sign in with the present one.');
    }
    return changed;
  }
}

type SignInOptions = Pick<AuthContext, 'sessionId'> & { rememberMe?: boolean | undefined };

const alreadySetUp = (): AppError =>
  conflict('A password was set already. Sign in with it, or recover with the recovery key.', {}, 'ALREADY_SETUP');
