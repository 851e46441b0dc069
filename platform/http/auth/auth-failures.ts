import type { HttpContext } from '../context';
import { type CallerAddress, type ReceivedRequest, socketAddress } from '../limits/caller-address';
import { createFixedWindow, type WindowStanding } from '../limits/fixed-window';
import { addressKey, refuseBeyond } from '../limits/rate-limit';

const windowMs = 60_000;
const maxKeys = 20_000;
/** Addresses that are reported in one window; beyond them, an attack has been reported already. */
const maxReports = 100;

/** A call whose credential was missing or wrong. */
export interface AuthFailure {
  address: string;
  /** Where it was presented, e.g. `http` or `ws`. */
  via: string;
  /** Whether there was a credential at all. */
  presented: boolean;
}

export interface AuthFailures {
  /**
   * Counts a failure of an address, and reports the first one of a window. Callers with a valid credential are not counted and
   * never refused: others with their address, e.g. behind a proxy, cannot lock them out.
   */
  record(request: ReceivedRequest, failure: Omit<AuthFailure, 'address'>): WindowStanding;
}

export interface AuthFailureOptions {
  /** Failures a minute and address that get their own response; 0: all of them. */
  limit: number;
  /** Writes down that authentications of an address fail: once a window, whatever comes after. */
  report: (failure: AuthFailure) => void;
  /** The address of a connection when absent. */
  addressOf?: CallerAddress;
  now?: () => number;
}

export function createAuthFailures({
  limit,
  report,
  addressOf = socketAddress,
  now = Date.now,
}: AuthFailureOptions): AuthFailures {
  const window = createFixedWindow({ limit: limit || Infinity, windowMs, maxKeys, now });
  const reported = new Set<string>();
  let reportedUntilMs = 0;
  return {
    record(request, failure) {
      const address = addressKey(addressOf(request));
      const standing = window.hit(address);
      if (standing.resetAtMs !== reportedUntilMs) {
        reportedUntilMs = standing.resetAtMs;
        reported.clear();
      }
      if (!reported.has(address) && reported.size < maxReports) {
        reported.add(address);
        report({ address, ...failure });
      }
      return standing;
    },
  };
}

/**
 * Counts a failed authentication over HTTP.
 *
 * @throws AppError 429 with the headers of a limit when its address has failed too often
 */
export function recordHttpFailure(failures: AuthFailures, ctx: HttpContext, presented: boolean): void {
  const standing = failures.record(ctx.req, { via: 'http', presented });
  if (!standing.allowed) {
    refuseBeyond(ctx, standing, { what: 'failed authentications' });
  }
}
