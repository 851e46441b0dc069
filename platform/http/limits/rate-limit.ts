import { AppError } from '../../errors/app-error';
import { isForwarded } from '../auth/loopback';
import { type HttpContext, type HttpMiddleware, isReadMethod, isUpload } from '../context';
import { isLoopbackAddress } from '../loopback-host';
import { type CallerAddress, socketAddress } from './caller-address';
import { createFixedWindow, type FixedWindow, type WindowStanding } from './fixed-window';

/** Requests a minute and address; 0 turns a tier off. */
export interface RateLimits {
  global: number;
  read: number;
  write: number;
  upload: number;
}

export interface RateLimitOptions {
  limits: RateLimits;
  /** Whether callers on this machine are exempt from the global tier. */
  localExempt: boolean;
  /** The address of a connection when absent. */
  addressOf?: CallerAddress;
  now?: () => number;
}

const windowMs = 60_000;
const maxKeys = 20_000;
const probes = /^\/health(?:\/|$)/;

/** What an address is counted under: an IPv4 address, or the /64 network that an IPv6 caller owns all addresses of. */
export function addressKey(address: string | undefined): string {
  if (address === undefined) {
    return 'unknown';
  }
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) {
    return plain;
  }
  const [head = '', tail = ''] = plain.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = plain.includes('::') ? 8 - groups.length - tail.split(':').filter(Boolean).length : 0;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')].slice(0, 4).join(':');
}

const tierOf = (ctx: HttpContext): keyof RateLimits => {
  if (isReadMethod(ctx.method)) {
    return 'read';
  }
  return isUpload(ctx) ? 'upload' : 'write';
};

/** The quota that limits the caller: the refused one, else the one with the least remaining. */
const tightest = (standings: WindowStanding[]): WindowStanding | undefined =>
  standings.sort((a, b) => Number(a.allowed) - Number(b.allowed) || a.remaining - b.remaining)[0];

/**
 * The tiers of the specification (Limits), counted per address of a caller in this process' memory: each replica allows the
 * whole limit. Every path is counted, also one that nothing is at; but for probes of `/health`, or a busy service would
 * be restarted for being busy.
 */
export function rateLimit({
  limits,
  localExempt,
  addressOf = socketAddress,
  now = Date.now,
}: RateLimitOptions): HttpMiddleware {
  const tiers = new Map<keyof RateLimits, FixedWindow>();
  for (const tier of ['global', 'read', 'write', 'upload'] as const) {
    if (limits[tier] > 0) {
      tiers.set(tier, createFixedWindow({ limit: limits[tier], windowMs, maxKeys, now }));
    }
  }
  return (ctx, next) => {
    if (tiers.size === 0 || probes.test(ctx.path)) {
      return next();
    }
    const { headers, socket } = ctx.req;
    const key = addressKey(addressOf(ctx.req));
    const exempt = localExempt && isLoopbackAddress(socket.remoteAddress) && !isForwarded(headers);
    const windows = [exempt ? undefined : tiers.get('global'), tiers.get(tierOf(ctx))];
    const standing = tightest(windows.flatMap((window) => (window ? [window.hit(key)] : [])));
    if (standing) {
      reportOrRefuse(ctx, standing, now());
    }
    return next();
  };
}

/**
 * A limit of its own for routes that cost more than others, on top of the tiers.
 *
 * @param limit requests a minute and caller; 0 turns it off
 * @returns to be called by the route with who calls @throws AppError 429
 */
export function routeLimit(limit: number, now: () => number = Date.now): (ctx: HttpContext, caller: string) => void {
  const window = limit > 0 ? createFixedWindow({ limit, windowMs, maxKeys, now }) : undefined;
  return (ctx, caller) => {
    if (window) {
      reportOrRefuse(ctx, window.hit(caller), now());
    }
  };
}

/** The headers that report a limit, and when to come back to a caller who is beyond it. */
export function standingHeaders(standing: WindowStanding, nowMs: number): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(standing.limit),
    'X-RateLimit-Remaining': String(standing.remaining),
    'X-RateLimit-Reset': String(Math.ceil(standing.resetAtMs / 1000)),
    ...(standing.allowed ? {} : { 'Retry-After': String(retryAfterSeconds(standing, nowMs)) }),
  };
}

const retryAfterSeconds = ({ resetAtMs }: WindowStanding, nowMs: number): number =>
  Math.max(1, Math.ceil((resetAtMs - nowMs) / 1000));

/** The refusal of a caller who is beyond a limit. */
export const rateLimited = (standing: WindowStanding, nowMs: number, what = 'requests'): AppError =>
  new AppError('RATE_LIMITED', {
    status: 429,
    message: `More than ${standing.limit} ${what} in a minute. Try again later.`,
    details: { limit: standing.limit, retryAfterSeconds: retryAfterSeconds(standing, nowMs) },
  });

/** Reports the limit to the caller. @throws AppError 429 */
export function refuseBeyond(
  ctx: HttpContext,
  standing: WindowStanding,
  { what, nowMs = Date.now() }: { what: string; nowMs?: number },
): never {
  ctx.set(standingHeaders(standing, nowMs));
  throw rateLimited(standing, nowMs, what);
}

/** Sends the caller its remaining quota, and refuses one that is beyond it. */
function reportOrRefuse(ctx: HttpContext, standing: WindowStanding, nowMs: number): void {
  if (!standing.allowed) {
    refuseBeyond(ctx, standing, { what: 'requests', nowMs });
  }
  ctx.set(standingHeaders(standing, nowMs));
}
