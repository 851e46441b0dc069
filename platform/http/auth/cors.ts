import { AppError } from '../../errors/app-error';
import type { HttpMiddleware } from '../context';
import { isAllowedPage, isCrossSite, type OriginRules, refusedPage } from './loopback';

const readableHeaders = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Link',
  'Location',
  'Retry-After',
  'Sunset',
  'X-API-Version',
  'X-Artifact-Media-Type',
  'X-Board-Task-Identity-Conflicts',
  'X-Has-More',
  'X-Next-Cursor',
  'X-Policy-Warnings',
  'X-Next-Sequence',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-ID',
  'X-Resource-Revision',
].join(', ');
const sendableHeaders =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Key, X-API-Version, X-Board-Callback-Secret, X-Board-Workspace, X-Idempotency-Key, X-Request-ID, X-Resource-Revision';

const rejected = (message: string) => new AppError(refusedPage.code, { ...refusedPage, message });

/**
 * What pages of a browser may do: pages of an allowed origin, and the service's own under an address that cannot be
 * rebound, everything, other pages nothing. What a foreign page sends is
 * refused even though the browser would hide only its response: it could ride on the bypass for local callers, and reads may
 * start programs too. A read with neither header is one of a program, or of an old browser's page, which has no key.
 *
 * @param landings paths where another site sends browsers on purpose; what they serve depends on nothing that the other site knows
 */
export const cors =
  (rules: OriginRules, landings: readonly string[] = []): HttpMiddleware =>
  (ctx, next) => {
    const origin = ctx.get('Origin');
    if (!origin) {
      const lands = ctx.method === 'GET' && ctx.get('Sec-Fetch-Mode') === 'navigate' && landings.includes(ctx.path);
      if (isCrossSite(ctx.req.headers) && !lands) {
        throw rejected('Pages of other sites are not allowed to call the service.');
      }
      return next();
    }
    ctx.vary('Origin');
    if (!isAllowedPage(ctx.req.headers, rules)) {
      throw rejected(refusedPage.message);
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', readableHeaders);
    if (ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method')) {
      ctx.set('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
      ctx.set('Access-Control-Allow-Headers', sendableHeaders);
      ctx.set('Access-Control-Max-Age', '600');
    }
    return next();
  };
