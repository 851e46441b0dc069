/** Why a run cannot continue. */
export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';
}
