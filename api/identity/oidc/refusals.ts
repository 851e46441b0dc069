import { AppError } from '../../../platform/errors/app-error';
import { ProviderUnavailableError, SignInDeniedError, UnprovenSignInError } from '../../../platform/oidc/errors';

const again = 'Start again at /api/auth/oidc/login.';

export const notConfigured = (): AppError =>
  new AppError('OIDC_NOT_CONFIGURED', {
    status: 404,
    message: 'No provider of OpenID Connect is configured: BOARD_OIDC_ISSUER is not set.',
  });

/** The browser has not begun this sign-in, has used it, or has taken too long. */
export const loginNotPending = (): AppError =>
  new AppError('OIDC_LOGIN_NOT_PENDING', {
    status: 400,
    message: `This browser has no such sign-in under way: it was begun elsewhere, has been used, or is older than ten minutes. ${again}`,
  });

/** A person whom the provider has proven, and who may not enter. */
export const refusedPerson = (code: string, message: string): AppError => new AppError(code, { status: 403, message });

/** An error of the provider as its caller gets it; the cause is for the log. */
export function providerRefusal(error: unknown): AppError | undefined {
  if (error instanceof SignInDeniedError) {
    const reason = /^[a-z_]{1,64}$/.test(error.reason) ? error.reason : 'unknown';
    return new AppError('OIDC_DENIED', {
      status: 403,
      message: `The provider has refused the sign-in (${reason}). ${again}`,
      details: { reason },
    });
  }
  if (error instanceof UnprovenSignInError) {
    return new AppError('OIDC_UNPROVEN', {
      status: 401,
      message: `The response of the provider does not prove who has signed in. ${again}`,
    });
  }
  if (error instanceof ProviderUnavailableError) {
    return new AppError('OIDC_PROVIDER_UNAVAILABLE', {
      status: 503,
      message: 'The provider of OpenID Connect does not respond as it must. The log has the reason.',
      details: { retryAfterMs: 5_000 },
    });
  }
  return undefined;
}
