import type { Middleware, ParameterizedContext } from 'koa';
import type { Operation } from '../operations/operation';

/** What the middleware before a route passes to it. */
export interface RequestState {
  requestId: string;
  /** The change that the route makes, once it has begun. */
  operation?: Operation;
  /** Whether the caller can find out by the same key what came of the request. */
  hasIdempotencyKey?: boolean;
  /** Set for a request under the prefix of a reply profile. */
  profile?: ProfiledState;
}

/** Of a request under a prefix: what links in its response have in common. */
export interface ProfiledState {
  prefix: string;
  /** Parameters of the query that only the profile knows. */
  parameters: Record<string, string>;
}

export type HttpContext = ParameterizedContext<RequestState>;
export type HttpMiddleware = Middleware<RequestState>;

/** The path of the route that a request was matched with, with its parameters as `:name`; `undefined` where there is none. */
export function matchedRoute(ctx: HttpContext): string | undefined {
  const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
  return typeof route === 'string' ? route : undefined;
}

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the method promises to change nothing. */
export const isReadMethod = (method: string): boolean => readMethods.has(method);

/** Whether the caller sends files: such a request takes its time, and is counted in a tier of its own. */
export const isUpload = (ctx: HttpContext): boolean => /^multipart\//i.test(ctx.get('Content-Type'));
