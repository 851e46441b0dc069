import { AppError } from '../errors/app-error';
import type { HttpMiddleware } from './context';

const requested = /^v?1(\.0)?$/i;

/** Sends `v1` with every response and refuses a caller that requests another version (specification 1, Versioning). */
export const apiVersion = (): HttpMiddleware => (ctx, next) => {
  ctx.set('X-API-Version', 'v1');
  const requestedVersion = ctx.get('X-API-Version') || ctx.get('Accept-Version');
  if (requestedVersion && !requested.test(requestedVersion)) {
    throw new AppError('BAD_REQUEST', {
      status: 400,
      message: 'This service supports only API version v1.',
      details: { supported: ['v1'] },
    });
  }
  return next();
};

/** Makes `/api/v1/…` another name of `/api/…`, once, before anything reads the path. */
export const normalisePath = (): HttpMiddleware => (ctx, next) => {
  if (/^\/api\/v1(?=[/?]|$)/.test(ctx.url)) {
    ctx.url = `/api${ctx.url.slice('/api/v1'.length)}`;
  }
  return next();
};
