import { AppError } from '../errors/app-error';
import { isReadMethod, isUpload, type HttpContext, type HttpMiddleware } from './context';
import { createFixedWindow, type FixedWindow, type WindowStanding } from './fixed-window';
import { isLoopbackAddress } from './loopback';

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
  now?: () => number;
}

const windowMs = 60_000;
const maxKeys = 20_000;

/** One caller: an IPv4 address, or the /64 network that an IPv6 caller owns all addresses of. */
export function callerKey(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = plain.includes('::') ? 8 - groups.length - tail.split(':').filter(Boolean).length : 0;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')].slice(0, 4).join(':');
}

const tierOf = (ctx: HttpContext): keyof RateLimits => {
  if (isReadMethod(ctx.method)) return 'read';
  return isUpload(ctx) ? 'upload' : 'write';
};

/** The standing a caller has to mind: the refused one, else the one with the least left. */
const tightest = (standings: WindowStanding[]): WindowStanding | undefined =>
  standings.sort((a, b) => Number(a.allowed) - Number(b.allowed) || a.remaining - b.remaining)[0];

/**
 * The tiers of the specification (Limits), counted per socket address in this process' memory: each replica allows the
 * whole limit. Probes of `/health` are not counted, or a busy service would be restarted for being busy.
 */
export function rateLimit({ limits, localExempt, now = Date.now }: RateLimitOptions): HttpMiddleware {
  const tiers = new Map<keyof RateLimits, FixedWindow>();
  for (const tier of ['global', 'read', 'write', 'upload'] as const) {
    if (limits[tier] > 0) tiers.set(tier, createFixedWindow({ limit: limits[tier], windowMs, maxKeys, now }));
  }
  return (ctx, next) => {
    if (tiers.size === 0 || !ctx.path.startsWith('/api')) return next();
    const address = ctx.req.socket.remoteAddress;
    const key = callerKey(address);
    const exempt = localExempt && isLoopbackAddress(address);
    const windows = [exempt ? undefined : tiers.get('global'), tiers.get(tierOf(ctx))];
    const standing = tightest(windows.flatMap((window) => (window ? [window.hit(key)] : [])));
    if (standing) tellOrRefuse(ctx, standing, now());
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
    if (window) tellOrRefuse(ctx, window.hit(caller), now());
  };
}

/** Tells the caller where they stand, and refuses one who is beyond it. */
function tellOrRefuse(ctx: HttpContext, standing: WindowStanding, nowMs: number): void {
  ctx.set('X-RateLimit-Limit', String(standing.limit));
  ctx.set('X-RateLimit-Remaining', String(standing.remaining));
  ctx.set('X-RateLimit-Reset', String(Math.ceil(standing.resetAtMs / 1000)));
  if (standing.allowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil((standing.resetAtMs - nowMs) / 1000));
  ctx.set('Retry-After', String(retryAfterSeconds));
  throw new AppError('RATE_LIMITED', 429, `More than ${standing.limit} requests in a minute. Try again later.`, {
    limit: standing.limit,
    retryAfterSeconds,
  });
}
