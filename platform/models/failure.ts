import { types } from 'node:util';
import { APICallError, UnsupportedFunctionalityError } from 'ai';
import { retryAfterMs } from '../http/retry-after';
import type { Redactor } from '../log/redact';
import { ModelError, type ModelErrorKind } from './errors';

type ResponseFacts = ConstructorParameters<typeof ModelError>[2];

const longestMessage = 500;

/** Statuses after which the same request may go through. */
const passing = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

/** What providers call a failure inside of a stream that has begun: those that are the caller's to mend. */
const callersFault = /invalid_request|authentication|permission|not_found|billing|too_large/;

/**
 * What went wrong while a model was called, in our terms.
 *
 * @param redact hides the key, which providers quote in part
 */
export function modelErrorOf(error: unknown, provider: string, redact: Redactor): ModelError {
  if (error instanceof ModelError) {
    return error;
  }
  const modelError = (kind: ModelErrorKind, what: string, response?: ResponseFacts): ModelError =>
    new ModelError(kind, redact(`${provider}: ${what}`).slice(0, longestMessage), response);
  if (UnsupportedFunctionalityError.isInstance(error)) {
    return modelError('unsupported', `${error.functionality} is not supported`);
  }
  if (APICallError.isInstance(error)) {
    const { statusCode: status, message } = error;
    if (status === undefined) {
      return modelError('unavailable', message);
    }
    // An answer that breaks off or cannot be read has the status of its beginning.
    if (status < 400) {
      return modelError('unavailable', withCause(error));
    }
    const isPassing = passing(status);
    const waitMs = isPassing ? retryAfterMs(error.responseHeaders?.['retry-after'], new Date()) : undefined;
    return modelError(isPassing ? 'unavailable' : 'refused', `answered ${status}: ${message}`, {
      status,
      retryAfterMs: waitMs,
    });
  }
  const reported = reportedIn(error);
  if (reported) {
    return modelError(callersFault.test(reported.type) ? 'refused' : 'unavailable', reported.message);
  }
  return modelError('unavailable', withCause(error));
}

/** Of errors of every realm. */
const messageOf = (error: unknown): string => (types.isNativeError(error) ? error.message : String(error));

/** "fetch failed" explains nothing; its cause does. */
const withCause = (error: unknown): string =>
  types.isNativeError(error) && error.cause !== undefined
    ? `${error.message}: ${messageOf(error.cause)}`
    : messageOf(error);

/** A failure as a provider reports it within a stream. */
function reportedIn(error: unknown): { type: string; message: string } | undefined {
  if (typeof error !== 'object' || error === null || types.isNativeError(error) || !('message' in error)) {
    return undefined;
  }
  return { type: 'type' in error ? String(error.type) : '', message: String(error.message) };
}
