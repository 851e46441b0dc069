import type { HttpMiddleware } from '../context';

const headers = Object.entries({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // The default of a response; a route that may be revalidated overrides it.
  'Cache-Control': 'no-store',
});

/** Headers that prevent a browser from guessing, framing or storing responses of an API. */
export const securityHeaders = (): HttpMiddleware => (ctx, next) => {
  for (const [name, value] of headers) {
    ctx.res.setHeader(name, value);
  }
  return next();
};
