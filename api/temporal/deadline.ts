import { WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { AppError } from '../../platform/errors/app-error';

/** How long a caller waits for a worker before it is told to ask again, in milliseconds. */
const answerWithinMs = 25_000;

/** gRPC status codes. */
const deadlineExceeded = 4;
const unavailable = 14;

/**
 * Calls Temporal for a caller who waits.
 *
 * @param pending what the caller is told when no worker has answered in time
 * @throws AppError 503 `pending`, or `TEMPORAL_UNAVAILABLE`
 */
export async function withinDeadline<T>(client: Client, pending: () => AppError, call: () => Promise<T>): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + answerWithinMs, call);
  } catch (error) {
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || hasStatus(error, deadlineExceeded))
      throw pending();
    if (hasStatus(error, unavailable)) throw away();
    throw error;
  }
}

const away = () =>
  new AppError('TEMPORAL_UNAVAILABLE', 503, 'The workflow engine does not answer. Nothing was started; try again.', {
    retryAfterMs: 5_000,
  });

/** Whether an error, or one that caused it, has a gRPC status. */
export function hasStatus(error: unknown, status: number): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && current.code === status) return true;
  }
  return false;
}
