import { idempotencyKey } from '../../contracts/runs/launch/launch';
import { type AppError, conflict, validationError } from '../../platform/errors/app-error';

const headerName = 'X-Idempotency-Key';

/**
 * The key of a request whose route has a rule of its own for repetitions.
 *
 * @param path the source of the key, for refusals
 * @throws AppError 400 for what is no key, and without one
 */
export function parseIdempotencyKey(presented: string | undefined, path = headerName): string {
  const parsed = idempotencyKey.safeParse(presented);
  if (parsed.success) {
    return parsed.data;
  }
  throw validationError(parsed.error.issues.map(({ message }) => ({ path, message })));
}

/**
 * The error for a key with another request than before: 409 `IDEMPOTENCY_KEY_REUSED`.
 *
 * @param what the kind of request the key belongs to: `launch request`
 */
export const idempotencyKeyReused = (what: string, details: Record<string, unknown>): AppError =>
  conflict(`The idempotency key belongs to another ${what}; use a new one.`, details, 'IDEMPOTENCY_KEY_REUSED');
