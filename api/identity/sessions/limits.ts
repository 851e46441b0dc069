import { AppError } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import { callerAddressBehind } from '../../../platform/http/limits/caller-address';
import { addressKey, standingHeaders } from '../../../platform/http/limits/rate-limit';
import type { ApiContext } from '../../context';

const windowMs = 15 * 60_000;

export type LimitContext = Pick<ApiContext, 'env' | 'rates' | 'now'>;

/** Limits what takes or makes a credential, by address, over all replicas and restarts. */
export function createAuthLimit({ env, rates, now }: LimitContext): (ctx: HttpContext) => Promise<void> {
  const addressOf = callerAddressBehind(env.BOARD_TRUSTED_PROXIES);
  const limit = env.RATE_LIMIT_AUTH;
  /** @throws AppError 429 with the headers of a limit */
  return async (ctx) => {
    if (limit === 0) {
      return;
    }
    const count = await rates.count({ key: ['auth', addressKey(addressOf(ctx.req))], windowMs });
    const nowMs = now().getTime();
    const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    const standing = { allowed: count <= limit, limit, remaining: Math.max(0, limit - count), resetAtMs };
    ctx.set(standingHeaders(standing, nowMs));
    if (!standing.allowed) {
      throw tooMany(`More than ${limit} requests in ${windowMs / 60_000} minutes.`, resetAtMs - nowMs, { limit });
    }
  };
}

/** The refusal of a caller who has to wait. */
export function tooMany(message: string, waitMs: number, details: Record<string, unknown> = {}): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new AppError('RATE_LIMITED', {
    status: 429,
    message: `${message} Try again in ${retryAfterSeconds} seconds.`,
    details: { ...details, retryAfterSeconds },
  });
}
