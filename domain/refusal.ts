import type { Refusal } from '../contracts/refusal';

/** A refused operation as a value. */
export const refusal = (code: string, message: string, details: Record<string, unknown> = {}): Refusal => ({
  status: 'refused',
  code,
  message,
  details,
});
