import { AppError } from '../errors/app-error';
import type { HttpMiddleware } from './context';

const requested = /^v?1(\.0)?$/i;

/** Says `v1` on every answer and refuses a caller that asks for another version (specification 1, Versioning). */
export const apiVersion = (): HttpMiddleware => (ctx, next) => {
  ctx.set('X-API-Version', 'v1');
  const wanted = ctx.get('X-API-Version') || ctx.get('Accept-Version');
  if (wanted && !requested.test(wanted)) {
    throw new AppError('BAD_REQUEST', 400, 'This service speaks API version v1 only.', { supported: ['v1'] });
  }
  return next();
};

/** Makes `/api/v1/…` another name of `/api/…`, once, before anything looks at the path. */
export const normalisePath = (): HttpMiddleware => (ctx, next) => {
  if (/^\/api\/v1(?=[/?]|$)/.test(ctx.url)) ctx.url = `/api${ctx.url.slice('/api/v1'.length)}`;
  return next();
};
