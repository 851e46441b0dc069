import { AppError } from '../errors/app-error';
import { compact } from '../json/compact';
import type { Log } from '../log/log';
import type { HttpContext, HttpMiddleware } from './context';
import { replayedHeader } from './limits/idempotency';

/** Turns errors of a lower layer into refusals; `undefined` for those it does not know. */
export type TranslateError = (error: unknown) => AppError | undefined;

/** The call that helps after a refusal; `undefined` where there is none. */
export type FindNextCall = (refusal: AppError, ctx: HttpContext) => object | undefined;

/** Headers that belong to a refusal, by its status. */
function setRefusalHeaders(ctx: HttpContext, error: AppError): void {
  if (error.status === 401) {
    ctx.set('WWW-Authenticate', 'Bearer');
  }
  if (error.details.replayed === true) {
    ctx.set(replayedHeader, 'true');
  }
  const seconds = retryAfter(error);
  if (seconds !== undefined) {
    ctx.set('Retry-After', String(seconds));
  }
}

/** In how many seconds a repetition may be served, where a repetition may help. */
function retryAfter({ status, details: { retryAfterMs, retryAfterSeconds } }: AppError): number | undefined {
  if (status !== 429 && status !== 503 && (status !== 409 || retryAfterMs === undefined)) {
    return undefined;
  }
  if (status === 429 && typeof retryAfterSeconds === 'number') {
    return retryAfterSeconds;
  }
  if (typeof retryAfterMs === 'number') {
    return Math.ceil(retryAfterMs / 1000);
  }
  return status === 429 ? 60 : 1;
}

const revisionOf = (current: unknown): number | undefined =>
  typeof current === 'object' && current !== null && 'revision' in current && typeof current.revision === 'number'
    ? current.revision
    : undefined;

/** Whether what failed may have been done all the same: only for a change that had begun. */
function outcomeOf({ state: { operation } }: HttpContext): { mayHaveHappened?: boolean } {
  if (!operation) {
    return {};
  }
  return { mayHaveHappened: operation.mayHaveWritten || operation.isRunning };
}

/** A failure with its outcome. */
function withOutcome(error: AppError, { mayHaveHappened }: { mayHaveHappened?: boolean }, isStated: boolean): AppError {
  if (mayHaveHappened === undefined || 'mayHaveHappened' in error.details) {
    return error;
  }
  const { code, status, message, details } = error;
  return new AppError(code, {
    status,
    message: mayHaveHappened && !isStated ? `${message} ${mayHave}` : message,
    details: { ...details, mayHaveHappened },
  });
}

const mayHave =
  'The request may have taken effect: repeat it with the same Idempotency-Key, or read the current state first.';

/**
 * `{error, code, details}`, with the call that helps as `details.next`; a conflict has its sentence as `message` too, and the
 * revision of what it shows.
 */
function bodyOf({ message, code, details, status }: AppError, next: object | undefined) {
  if (status !== 409) {
    return { error: message, code, details: { ...details, ...compact({ next }) } };
  }
  const currentRevision = details.currentRevision ?? revisionOf(details.current);
  return {
    error: message,
    message,
    code,
    details: { ...details, ...compact({ currentRevision, next }) },
  };
}

/**
 * The only function that turns an error into a response (specification 1, Errors): `{error, code, details}`. An unexpected
 * error becomes a bare 500 with the request's id and is logged, once, with its stack.
 */
export const errorEnvelope =
  (log: Log, translate: TranslateError = () => undefined, nextCall: FindNextCall = () => undefined): HttpMiddleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const refusal = error instanceof AppError ? error : translate(error);
      const outcome = outcomeOf(ctx);
      // A route's refusal states itself what has become of the request.
      const isStated = error instanceof AppError && error.code !== 'REQUEST_TIMEOUT';
      ctx.remove('Content-Type');
      ctx.remove('ETag');
      ctx.set('Cache-Control', 'no-store');
      if (refusal) {
        setRefusalHeaders(ctx, refusal);
        ctx.status = refusal.status;
        const shown = refusal.status < 500 ? refusal : withOutcome(refusal, outcome, isStated);
        ctx.body = bodyOf(shown, nextCall(refusal, ctx));
        return;
      }
      const { requestId } = ctx.state;
      log.error({ requestId, method: ctx.method, path: ctx.path.slice(0, 300), err: error }, 'request failed');
      ctx.status = 500;
      const bare = { error: 'An internal error occurred.', code: 'INTERNAL_ERROR' };
      ctx.body = { ...bare, details: { requestId, ...outcome } };
    }
  };
