import type { HttpMiddleware } from './context';

const headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // The default of an answer; a route that may be revalidated says so itself.
  'Cache-Control': 'no-store',
};

/** Headers that keep a browser from guessing, framing or storing answers of an API. */
export const securityHeaders = (): HttpMiddleware => (ctx, next) => {
  ctx.set(headers);
  return next();
};
