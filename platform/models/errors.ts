/**
 * - `unknown`: the catalog has no such model
 * - `unsupported`: the model cannot do what was asked of it
 * - `refused`: its provider will not do it, however often it is asked (400, 401 …), or cannot be asked (no key)
 * - `unavailable`: rate limit, a failure of the provider, no connection
 * - `timeout`: it took too long
 * - `aborted`: the caller does not want the answer any more
 */
export type ModelErrorKind = 'unknown' | 'unsupported' | 'refused' | 'unavailable' | 'timeout' | 'aborted';

/** A call of a model that brought no answer. The message is for people and holds no key. */
export class ModelError extends Error {
  override readonly name = 'ModelError';

  /** The status of the provider's response, when there was one. */
  readonly status: number | undefined;
  /** How long its provider asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    { status, retryAfterMs }: { status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same call may bring an answer later. */
  get retryable(): boolean {
    return this.kind === 'unavailable' || this.kind === 'timeout';
  }
}
