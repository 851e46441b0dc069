import type { z } from 'zod';
import { validationError } from '../errors/app-error';
import type { HttpContext, HttpMiddleware, ProfiledState } from './context';
import { parseOrRefuse } from './routing/validation';

/** What a profile makes of one operation. */
export interface ProfiledOperation {
  /** Names of the query that the profile knows besides those of the operation: an object of optional fields. */
  query?: z.ZodObject;
  /** The same in the names of the operation. */
  toQuery?: (own: Record<string, unknown>) => Record<string, string>;
  /** Maps a default reply. It changes nothing and decides nothing: the request has been served. */
  present?: (reply: unknown, own: Record<string, unknown>) => Promise<unknown>;
  /** What the mapped reply has to be; checked where replies are. */
  response?: z.ZodType;
}

/** Another shape of replies, for clients of one kind; `undefined` for an operation whose replies keep the default one. */
export type ReplyProfile = (operationId: string) => ProfiledOperation | undefined;

/** A request as the route reads it, and how its reply is mapped. */
export interface ProfiledRequest {
  query: Record<string, unknown>;
  present?: (reply: unknown) => Promise<unknown>;
}

/** A header with links to this API, whose targets get the prefix and the parameters of the profile. */
function prefixLinks(header: string, { prefix, parameters }: ProfiledState): string {
  return header.replace(/<(\/api\/[^>?]*)(?:\?([^>]*))?>/g, (_link, path: string, query?: string) => {
    if (query === undefined) {
      return `<${prefix}${path}>`;
    }
    const search = new URLSearchParams(query);
    for (const [name, value] of Object.entries(parameters)) {
      search.set(name, value);
    }
    return `<${prefix}${path}?${search.toString()}>`;
  });
}

/**
 * Serves the API once more under a prefix: the same operations, whose replies come in the shape of the profile. Only what
 * leads back into the API is rewritten here: `Location` and `Link`.
 *
 * @param prefix such as `/compat`, which makes `/compat/api/tasks` of `/api/tasks`
 */
export const underPrefix = (prefix: string): HttpMiddleware => {
  const start = `${prefix}/api/`;
  return (ctx, next) => (ctx.url.startsWith(start) ? serveUnder(prefix, ctx, next) : next());
};

async function serveUnder(prefix: string, ctx: HttpContext, next: () => Promise<unknown>): Promise<void> {
  const state: ProfiledState = { prefix, parameters: {} };
  ctx.state.profile = state;
  ctx.url = ctx.url.slice(prefix.length);
  try {
    await next();
  } finally {
    const { location, link } = ctx.response.headers;
    if (typeof location === 'string' && location.startsWith('/api/')) {
      ctx.set('Location', `${prefix}${location}`);
    }
    if (link !== undefined) {
      ctx.set('Link', prefixLinks([link].flat().join(', '), state));
    }
  }
}

/**
 * The request of a route, in the names of its contract. Of a caller under a prefix, replies that are mapped are never answered
 * with 304: they may have changed where the entity tag of the default reply has not.
 *
 * @throws AppError 400 for a value that the profile does not know
 */
export function profiledRequest(
  ctx: HttpContext,
  profile: ReplyProfile | undefined,
  { operationId, checkResponses }: { operationId: string; checkResponses: boolean },
): ProfiledRequest {
  const operation = ctx.state.profile && profile?.(operationId);
  if (!ctx.state.profile || !operation) {
    return { query: ctx.query };
  }
  const { query: schema, toQuery, present, response } = operation;
  const isOwn = (name: string) => schema !== undefined && name in schema.shape;
  const entries = Object.entries(ctx.query);
  const sent = Object.fromEntries(entries.filter(([name]) => isOwn(name)));
  const own = schema ? parseOrRefuse(schema, sent) : {};
  ctx.state.profile.parameters = Object.fromEntries(entries.filter(([name]) => isOwn(name))) as Record<string, string>;
  const translated = toQuery?.(own) ?? {};
  const twice = Object.keys(translated).find((name) => name in ctx.query);
  if (twice !== undefined) {
    throw validationError([{ path: twice, message: 'is given under another name too', code: 'custom' }]);
  }
  const request = { query: { ...translated, ...Object.fromEntries(entries.filter(([name]) => !isOwn(name))) } };
  if (!present) {
    return request;
  }
  delete ctx.req.headers['if-none-match'];
  return {
    ...request,
    async present(reply) {
      const presented = await present(reply, own);
      const parsed = checkResponses ? response?.safeParse(presented) : undefined;
      if (parsed && !parsed.success) {
        throw new Error(`The presented reply of ${operationId} violates its contract: ${parsed.error.message}`);
      }
      return presented;
    },
  };
}
