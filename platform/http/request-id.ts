import { randomUUID } from 'node:crypto';
import type { HttpMiddleware } from './context';

const sane = /^[A-Za-z0-9._:-]{1,128}$/;

/** Uses the caller's `X-Request-ID` when it is safe to log, makes one otherwise, and sends it back. */
export const requestId = (): HttpMiddleware => (ctx, next) => {
  const presented = ctx.get('X-Request-ID');
  ctx.state.requestId = sane.test(presented) ? presented : randomUUID();
  ctx.set('X-Request-ID', ctx.state.requestId);
  return next();
};
