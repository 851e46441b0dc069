import { z } from 'zod';
import { localWorkspace } from '../../../contracts/common';
import { oidcCallbackQuery, oidcLoginQuery, oidcLogout } from '../../../contracts/identity/oidc';
import { AppError } from '../../../platform/errors/app-error';
import { recordHttpFailure } from '../../../platform/http/auth/auth-failures';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { createLogoutVerifier, maxLogoutTokenAgeSeconds } from '../../../platform/oidc/logout-token';
import { createProvider, type ProvenIdentity } from '../../../platform/oidc/provider';
import type { ApiContext } from '../../context';
import { noSessionCookie, usesSecureCookies } from '../sessions/cookie';
import { sessionTimes } from '../sessions/sessions';
import { createLoginCookies, loginLastsMs } from './login-cookie';
import { forwardingPage } from './page';
import { loginNotPending, notConfigured, providerRefusal } from './refusals';
import { type AdmittedPerson, createAdmission, lacksClaims } from './sign-in';

const tag = 'auth';
const common = { tag, permission: 'public' } as const;
const get = { ...common, method: 'get' } as const;
const post = { ...common, method: 'post', idempotency: 'none' } as const;

/** Where the provider sends browsers back to: these are requests of another site, and meant to be. */
export const oidcLandings = ['/api/auth/oidc/callback', '/api/auth/oidc/signed-out'] as const;
const [callbackPath, signedOutPath] = oidcLandings;

/** Signing in with a provider of OpenID Connect. */
export function oidcRoutes(routes: Routes, context: ApiContext): void {
  const { authFailures, env, issueSession, log, now, oidc, recordAudit, sessions, sessionSecrets } = context;
  const { BOARD_OIDC_ISSUER: issuer, BOARD_OIDC_CLIENT_ID: clientId, BOARD_PUBLIC_URL: publicUrl } = env;
  const secure = publicUrl?.startsWith('https:') === true;
  const cookies = createLoginCookies({ secrets: sessionSecrets, secure, now });
  const admit = createAdmission(context);
  const configured =
    issuer !== undefined && clientId !== undefined && publicUrl !== undefined
      ? connect({ issuer, clientId, publicUrl })
      : undefined;

  function connect(settings: { issuer: string; clientId: string; publicUrl: string }) {
    const provider = createProvider({
      ...settings,
      clientSecret: env.BOARD_OIDC_CLIENT_SECRET,
      redirectUri: settings.publicUrl + callbackPath,
      scopes: env.BOARD_OIDC_SCOPES,
    });
    return {
      provider,
      verifyLogout: createLogoutVerifier(provider, settings.clientId),
      signedOutUrl: settings.publicUrl + signedOutPath,
    };
  }

  /** @throws AppError 404 when there is no provider */
  function ours(): NonNullable<typeof configured> {
    if (!configured) {
      throw notConfigured();
    }
    return configured;
  }

  /** @throws AppError */
  async function asked<T>(ctx: HttpContext, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      const refusal = providerRefusal(error);
      if (!refusal) {
        throw error;
      }
      log.warn({ err: error, code: refusal.code }, 'sign-in with the provider failed');
      if (refusal.status === 401) {
        countFailure(ctx);
      }
      throw refusal;
    }
  }

  /** @throws AppError 403, which counts as a failed authentication */
  async function admitted(ctx: HttpContext, person: ProvenIdentity): Promise<AdmittedPerson> {
    try {
      return await admit(person);
    } catch (error) {
      if (error instanceof AppError && error.status === 403) {
        log.warn({ code: error.code, issuer: person.issuer, subject: person.subject }, 'sign-in refused');
        countFailure(ctx);
      }
      throw error;
    }
  }

  /** @throws AppError 429 for an address with too many of them */
  const countFailure = (ctx: HttpContext) => recordHttpFailure(authFailures, ctx, true);

  routes.add(
    {
      ...get,
      path: '/auth/oidc/login',
      operationId: 'beginOidcLogin',
      summary: 'Open the sign-in page of the OpenID Connect provider',
      query: oidcLoginQuery,
      response: z.undefined(),
      status: 302,
      errors: [404],
    },
    async ({ query: { returnTo = '/' } }, ctx) => {
      const { provider } = ours();
      const { url, secrets } = await asked(ctx, () => provider.begin());
      ctx.append('Set-Cookie', await cookies.header({ ...secrets, returnTo }));
      ctx.redirect(url.href);
      return undefined;
    },
  );

  routes.add(
    {
      ...get,
      path: '/auth/oidc/callback',
      operationId: 'completeOidcLogin',
      summary: 'Accept a browser back from the OpenID Connect provider, and sign its user in',
      query: oidcCallbackQuery,
      response: z.string(),
      mediaType: 'text/html',
      errors: [401, 403, 404],
    },
    async ({ auth: { sessionId } }, ctx) => {
      const { provider } = ours();
      const login = await cookies.read(ctx.req.headers);
      // Whatever comes of it, the browser begins the next one with another cookie.
      ctx.append('Set-Cookie', cookies.none);
      if (!login || ctx.query.state !== login.state || !(await oidc.useOnce(login.id, loginLastsMs))) {
        countFailure(ctx);
        throw loginNotPending();
      }
      const person = await asked(ctx, () =>
        provider.complete(ctx.querystring, login, (claims) => lacksClaims(env, claims)),
      );
      const { userId, role } = await admitted(ctx, person);
      if (person.sid !== undefined) {
        await oidc.noteSession(person.issuer, person.sid, { userId, lastsMs: sessionTimes.usual });
      }
      await issueSession(ctx, {
        userId,
        workspaceId: localWorkspace,
        role,
        method: 'oidc',
        replaces: sessionId,
      });
      await recordAudit({
        action: 'auth.login',
        actor: `user:${userId}`,
        resource: userId,
        details: { method: 'oidc' },
      });
      return forwardingPage(login.returnTo);
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/oidc/logout',
      operationId: 'oidcLogout',
      summary: 'Sign out, and read where the session at the OpenID Connect provider is ended',
      response: oidcLogout,
      errors: [404],
    },
    async ({ auth: { sessionId, userId, actor } }, ctx) => {
      const { provider, signedOutUrl } = ours();
      if (sessionId !== undefined && (await sessions.end(userId, sessionId))) {
        await recordAudit({ action: 'auth.logout', actor, resource: sessionId });
      }
      ctx.append('Set-Cookie', noSessionCookie({ secure: usesSecureCookies(env) }));
      const url = await asked(ctx, () => provider.endSessionUrl(signedOutUrl));
      return { endSessionUrl: url?.href ?? null };
    },
  );

  routes.add(
    {
      ...get,
      path: '/auth/oidc/signed-out',
      operationId: 'showOidcSignedOut',
      summary: 'Accept a browser back from the OpenID Connect provider after its user has signed out there',
      query: z.looseObject({}),
      response: z.string(),
      mediaType: 'text/html',
      errors: [404],
    },
    async () => {
      ours();
      return forwardingPage('/');
    },
  );

  routes.add(
    {
      ...post,
      path: '/auth/oidc/backchannel-logout',
      operationId: 'receiveOidcLogout',
      summary: 'Accept the report of the OpenID Connect provider that a session there has ended',
      rawBody: true,
      response: z.undefined(),
      status: 204,
      errors: [401, 404],
    },
    async ({ rawBody }, ctx) => {
      const { verifyLogout } = ours();
      const token = new URLSearchParams((await rawBody()).toString()).get('logout_token') ?? '';
      const logout = await asked(ctx, () => verifyLogout(token));
      if (!(await oidc.useOnce(`logout ${logout.issuer} ${logout.id}`, 2_000 * maxLogoutTokenAgeSeconds))) {
        throw new AppError('OIDC_UNPROVEN', { status: 401, message: 'This report was received before.' });
      }
      const userId =
        logout.subject === undefined
          ? await oidc.userOfSession(logout.issuer, logout.sid ?? '')
          : (await oidc.find(logout.issuer, logout.subject))?.userId;
      if (userId !== undefined) {
        // Every session of the user: a report may name fewer, and none of them is worth more than the one that ended.
        const ended = await sessions.endOthers(userId);
        await recordAudit({
          action: 'auth.logout',
          actor: 'service:oidc',
          resource: userId,
          details: { sessions: ended },
        });
      }
      return undefined;
    },
  );
}
