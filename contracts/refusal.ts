/**
 * An operation that was refused, as a value: what workflows and activities return, and the API turns into an error. Those that
 * earlier versions recorded have an `httpStatus` too, which nothing reads.
 */
export interface Refusal {
  status: 'refused';
  /** Stable identifier, e.g. `RUN_ACTIVE`. */
  code: string;
  message: string;
  details: Record<string, unknown>;
}
