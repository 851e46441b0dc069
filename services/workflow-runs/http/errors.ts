import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { AppError } from '../../../platform/errors/app-error';
import type { HttpContext, HttpMiddleware } from '../../../platform/http/context';
import type { RefusalBody } from '../../../platform/http/server/raw-refusal';
import type { Log } from '../../../platform/log/log';
import { StoreFullError, StoreUnavailableError } from '../../../stores/port/errors';
import { withoutToken } from '../webhooks/webhook-token';

/** How this service refuses: one entry for each thing that is wrong. */
export const errorDocument = z
  .object({ errors: z.array(z.object({ status: z.string(), title: z.string(), detail: z.string() })) })
  .meta({ id: 'Errors' });

interface Refusal {
  status: number;
  details: string[];
}

/** A refusal with a sentence and nothing else, as every one of this service is. */
export const refuse = (status: AppError['status'], detail: string): AppError =>
  new AppError('REFUSED', { status, message: detail });

/** Where this interface names 400 for an invalid body as well. */
const refusesBodiesWith400 = /^\/(verification|insights|runs\/[^/]*\/verification)\//;

/**
 * Sends refusals in the envelope of this service. A body that does not fit its schema is 422, as callers of this
 * interface expect, but for the areas that specify another; anything else that is invalid is 400.
 */
export const errorsAsDocument =
  (log: Log): HttpMiddleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { status, details } = refusalOf(error, ctx, log);
      ctx.status = status;
      ctx.set('Cache-Control', 'no-store');
      if (status === 401) {
        ctx.set('WWW-Authenticate', 'Bearer');
      }
      const again = error instanceof AppError && error.details.retryAfterMs !== undefined;
      if (status === 503 || again) {
        ctx.set('Retry-After', '1');
      }
      ctx.body = documentOf(status, details);
    }
  };

const documentOf = (status: number, details: readonly string[]): z.output<typeof errorDocument> => ({
  errors: details.map((detail) => ({ status: String(status), title: STATUS_CODES[status] ?? 'Error', detail })),
});

/** The same envelope for what is refused before any middleware. */
export const refusalDocument: RefusalBody = ({ status, message }) => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(documentOf(status, [message])),
});

function refusalOf(error: unknown, ctx: HttpContext, log: Log): Refusal {
  if (error instanceof StoreFullError) {
    return { status: 507, details: [error.message] };
  }
  if (error instanceof StoreUnavailableError) {
    return { status: 503, details: ['The store is unreachable. Try again.'] };
  }
  if (!(error instanceof AppError)) {
    log.error(
      { requestId: ctx.state.requestId, method: ctx.method, path: withoutToken(ctx.path).slice(0, 300), err: error },
      'failed',
    );
    return { status: 500, details: ['An internal error occurred.'] };
  }
  if (error.code === 'AUTH_REQUIRED') {
    return { status: 401, details: ['Authentication required.'] };
  }
  if (error.code !== 'VALIDATION_ERROR') {
    return { status: error.status, details: [error.message] };
  }
  const embodied = ctx.method === 'POST' || ctx.method === 'PUT' || ctx.method === 'PATCH';
  const { issues } = error.details as { issues: { path: string; message: string }[] };
  const details = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const status = embodied && !refusesBodiesWith400.test(ctx.path) ? 422 : 400;
  return { status, details: details.length > 0 ? details : [error.message] };
}
