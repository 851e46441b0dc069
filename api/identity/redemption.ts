import { RefusedError } from '../../domain/refusal';
import { AppError } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import { callerAddressBehind } from '../../platform/http/limits/caller-address';
import { addressKey, standingHeaders } from '../../platform/http/limits/rate-limit';
import type { ApiContext } from '../context';

const windowMs = 15 * 60_000;
/** Failed redemptions in a window. */
export const redemptionLimits = { address: 10, code: 5 };
/** Failures that are audited in a minute; beyond them, an attack has been reported already. */
const maxAudited = 100;

type RedemptionContext = Pick<ApiContext, 'env' | 'rates' | 'recordAudit' | 'now'>;

export interface Redemption {
  /** What is redeemed, as the audit log names it: `device-pairing`. */
  what: string;
  /** As it was presented; its secret part is no part of what is counted. */
  code: string;
}

/** Redeems one-time codes before there is a credential: failures are limited by address and by code, and audited. */
export function createRedemptions({ env, rates, recordAudit, now }: RedemptionContext) {
  const addressOf = callerAddressBehind(env.BOARD_TRUSTED_PROXIES);

  /** @throws AppError 429 with the headers of a limit */
  function refuse(ctx: HttpContext, limit: number): never {
    const nowMs = now().getTime();
    const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    ctx.set(standingHeaders({ allowed: false, limit, remaining: 0, resetAtMs }, nowMs));
    throw new AppError('RATE_LIMITED', {
      status: 429,
      message: `More than ${limit} failed attempts in ${windowMs / 60_000} minutes. Try again later.`,
      details: { limit, retryAfterSeconds: Math.max(1, Math.ceil((resetAtMs - nowMs) / 1_000)) },
    });
  }

  async function audit({ what, code }: Redemption, address: string, error: AppError | RefusedError): Promise<void> {
    if ((await rates.count({ key: ['redemption-audits'], windowMs: 60_000 })) > maxAudited) {
      return;
    }
    const reason = error instanceof AppError ? error.code : error.refusal.code;
    const details = { reason, code: idOf(code) ?? 'malformed' };
    await recordAudit({ action: `${what}.refused`, actor: 'user:anonymous', resource: address, details });
  }

  /**
   * Runs one attempt. It counts as failed until it has succeeded: attempts at the same moment cannot exceed the limits.
   *
   * @throws AppError 429; what `attempt` throws
   */
  return async function redeem<T>(ctx: HttpContext, redemption: Redemption, attempt: () => Promise<T>): Promise<T> {
    const address = addressKey(addressOf(ctx.req));
    const { what, code } = redemption;
    const id = idOf(code);
    const counted = [
      { window: { key: ['redemption', what, 'address', address], windowMs }, limit: redemptionLimits.address },
      ...(id === undefined
        ? []
        : [{ window: { key: ['redemption', what, 'code', id], windowMs }, limit: redemptionLimits.code }]),
    ];
    for (const { window, limit } of counted) {
      if ((await rates.count(window)) > limit) {
        refuse(ctx, limit);
      }
    }
    const release = () => Promise.all(counted.map(({ window }) => rates.release(window)));
    try {
      const result = await attempt();
      await release();
      return result;
    } catch (error) {
      const isRefusal = error instanceof RefusedError || (error instanceof AppError && error.status < 500);
      await (isRefusal ? audit(redemption, address, error) : release());
      throw error;
    }
  };
}

/** The kind and the id of a code: what of it is no secret. */
const idOf = (code: string): string | undefined => /^rb[a-z]_[0-9a-f]{24}(?=_)/.exec(code)?.[0];
