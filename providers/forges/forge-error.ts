import { cut } from '../../platform/text/cut';
/**
 * - `unauthorized`: the token is refused
 * - `forbidden`: the token may not do this
 * - `not-found`: no such repository, pull request or issue, or the token may not see it
 * - `invalid`: the forge refuses what was sent; its reasons are in the message
 * - `rate-limited`: too many requests; `retryAfterMs` is the time until the next request
 * - `unavailable`: no answer, half an answer, or one of 5xx: what was asked for may have been done
 * - `moved`: the repository is at another address
 * - `refused-address`: the forge is at an address that is never talked to
 */
export type ForgeErrorCode =
  'unauthorized' | 'forbidden' | 'not-found' | 'invalid' | 'rate-limited' | 'unavailable' | 'moved' | 'refused-address';

/** What a forge did not do. The message is for a person and holds no credentials. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';

  constructor(
    readonly code: ForgeErrorCode,
    message: string,
    /** Of `rate-limited`: how long to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** What a secondary limit without a time asks for: a minute at least. */
const unstatedWaitMs = 60_000;
/** A wait that a forge states is believed up to this. */
const maxWaitMs = 3_600_000;

type Headers = (name: string) => string | undefined;

/** How long the forge asks to wait, from any of the headers that it may say so with. */
function waitOf(header: Headers, nowMs: number): number {
  const retryAfter = header('retry-after');
  if (retryAfter !== undefined && retryAfter !== '') {
    const seconds = Number(retryAfter);
    const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - nowMs;
    return bounded(ms);
  }
  const reset = Number(header('x-ratelimit-reset') ?? header('ratelimit-reset') ?? NaN);
  // A second more: both clocks are whole seconds.
  return bounded(reset * 1_000 - nowMs + 1_000);
}

const bounded = (ms: number): number =>
  Number.isFinite(ms) ? Math.min(Math.max(Math.ceil(ms), 1_000), maxWaitMs) : unstatedWaitMs;

/** The error of a response that is no success. */
export function errorOfResponse(
  { status, header, message, service }: { status: number; header: Headers; message: string; service: string },
  nowMs = Date.now(),
): ForgeError {
  const text = `The ${service} responded with ${status}${message === '' ? '.' : `: ${cut(message, 1_000)}`}`;
  const limited =
    status === 429 ||
    (status === 403 &&
      (header('x-ratelimit-remaining') === '0' || header('retry-after') !== undefined || /rate limit/i.test(message)));
  if (limited) {
    return new ForgeError('rate-limited', text, waitOf(header, nowMs));
  }
  if (status >= 500 || status === 408) {
    return new ForgeError('unavailable', text);
  }
  return new ForgeError(codeOf(status), text);
}

function codeOf(status: number): ForgeErrorCode {
  if (status >= 300 && status < 400) {
    return 'moved';
  }
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
    case 410:
      return 'not-found';
    default:
      return 'invalid';
  }
}
