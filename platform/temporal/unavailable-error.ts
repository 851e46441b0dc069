/** No Temporal server can be reached or started. The message states what was tried and what to do. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';
}
