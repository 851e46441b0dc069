import type { HttpContext, HttpMiddleware } from '../context';
import type { PageFile, PageFiles } from './page-files';

/**
 * What the page may load: its own scripts, styles and images, and nothing of another origin. No script or style stands in the
 * document, so that a text that got into it as markup runs nothing.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const pageHeaders = { 'Content-Security-Policy': contentSecurityPolicy, ...isolation };

/** Of pages without scripts: they load the styles of the service, and nothing else. */
const textHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ...isolation,
};

/** The name of a file with a digest of its content, which is never another file. */
const isHashed = (path: string): boolean => path.startsWith('/assets/');

/** Whether a caller is a browser that opens an address: it names HTML among the types that it accepts. */
const acceptsPage = (ctx: HttpContext): boolean => /(?:^|[,\s])text\/html(?:[;,\s]|$)/i.test(ctx.get('Accept'));

/** Sends a file, or that the caller has it already. */
function sendFile(ctx: HttpContext, { type, bytes, gzipped, tag }: PageFile, cacheControl: string): void {
  ctx.set('ETag', tag);
  ctx.set('Cache-Control', cacheControl);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', type);
  if (gzipped && ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = gzipped;
    return;
  }
  ctx.body = bytes;
}

/**
 * Serves a page to browsers: its files by their names, and its document at every path of a view. Other requests to the same
 * paths, such as those of programs, are passed on.
 *
 * @param files what was built
 * @param isView whether a path is of a view of the page
 */
export const servePage =
  (files: PageFiles, isView: (path: string) => boolean): HttpMiddleware =>
  (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      return next();
    }
    const { path } = ctx;
    const file = path === '/index.html' ? undefined : files.get(path);
    if (file) {
      ctx.set(pageHeaders);
      sendFile(ctx, file, isHashed(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
      return;
    }
    const index = files.get('/index.html');
    if (!index || !isView(path)) {
      return next();
    }
    ctx.vary('Accept');
    if (!acceptsPage(ctx)) {
      return next();
    }
    ctx.set(pageHeaders);
    sendFile(ctx, index, 'no-cache');
    return;
  };

/**
 * Serves pages of text, which run nothing, to browsers and programs alike. Other requests are passed on.
 *
 * @param find the page or style at a path, if there is one
 */
export const serveText =
  (find: (path: string) => Promise<PageFile> | undefined): HttpMiddleware =>
  (ctx, next) => {
    const found = ctx.method === 'GET' || ctx.method === 'HEAD' ? find(ctx.path) : undefined;
    return found
      ? found.then((file) => {
          ctx.set(textHeaders);
          sendFile(ctx, file, 'no-cache');
        })
      : next();
  };
