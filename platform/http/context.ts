import type { Middleware, ParameterizedContext } from 'koa';

/** What the middleware before a route leaves for it. */
export interface RequestState {
  requestId: string;
}

export type HttpContext = ParameterizedContext<RequestState>;
export type HttpMiddleware = Middleware<RequestState>;

const readMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the method promises to change nothing. */
export const isReadMethod = (method: string): boolean => readMethods.has(method);
