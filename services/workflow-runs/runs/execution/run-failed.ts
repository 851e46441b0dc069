import { ActivityFailure } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';

/** Why a run cannot continue. */
export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';
}

/** The message of a failure. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : error;
  return cut(cause instanceof Error ? cause.message : String(cause), 1_000);
}
