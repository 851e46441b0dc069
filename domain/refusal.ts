import type { Refusal } from '../contracts/refusal';

/** A refused operation as a value. */
export const refusal = (code: string, message: string, details: Record<string, unknown> = {}): Refusal => ({
  status: 'refused',
  code,
  message,
  details,
});

/** A refusal as an error, where it cannot be returned: out of a change that a store applies. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}
