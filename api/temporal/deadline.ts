import { WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { AppError } from '../../platform/errors/app-error';
import { hasStatus, isNotReady, untilReady } from '../../platform/temporal/until-ready';

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
export async function withinDeadline<T>(
  client: Pick<Client, 'withDeadline'>,
  pending: () => AppError,
  call: () => Promise<T>,
  withinMs = answerWithinMs,
): Promise<T> {
  try {
    const until = Date.now() + withinMs;
    return await client.withDeadline(until, () => untilReady(call, until));
  } catch (error) {
    const late = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || hasStatus(error, deadlineExceeded);
    if (late || isNotReady(error)) throw pending();
    if (hasStatus(error, unavailable)) throw away();
    throw error;
  }
}

const away = () =>
  new AppError('TEMPORAL_UNAVAILABLE', 503, 'The workflow engine does not answer. Nothing was started; try again.', {
    retryAfterMs: 5_000,
  });
