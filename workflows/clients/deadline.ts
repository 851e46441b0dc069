import {
  type Client,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { messageUnproven } from '../../platform/crypto/message-proof-shape';
import { AppError, errorMessage } from '../../platform/errors/app-error';
import { currentOperation } from '../../platform/operations/operation';
import { hasStatus, isNotReady, untilReady } from '../../platform/temporal/until-ready';

/** How long a caller waits for a worker before it gets a 503, in milliseconds. */
const answerWithinMs = 25_000;

/** gRPC status codes. */
const deadlineExceeded = 4;
const unavailable = 14;
/** The errors of a call that has not left this process; a connection that broke later has other messages. */
const neverSent = /no connection established|name resolution failed|failed to connect|ECONNREFUSED/i;

interface Deadline {
  /** The error of the caller when no worker has responded in time. */
  pending: () => AppError;
  withinMs?: number;
}

/**
 * Calls Temporal for a caller who waits.
 *
 * @throws AppError 503 `pending`, `TEMPORAL_UNAVAILABLE`, or `MESSAGE_UNPROVEN` when workers reject the signature of this API
 */
export async function withinDeadline<T>(
  client: Pick<Client, 'withDeadline'>,
  { pending, withinMs = answerWithinMs }: Deadline,
  call: () => Promise<T>,
): Promise<T> {
  try {
    const until = Date.now() + withinMs;
    const answer = await client.withDeadline(until, () => untilReady(call, until));
    currentOperation()?.noteWrite();
    return answer;
  } catch (error) {
    const unsent = hasStatus(error, unavailable) && neverSent.test(errorMessage(error));
    if (!unsent) {
      currentOperation()?.noteWrite();
    }
    const late = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || hasStatus(error, deadlineExceeded);
    if (late || isNotReady(error)) {
      throw pending();
    }
    if (hasStatus(error, unavailable)) {
      throw away(unsent);
    }
    const refused = refusedProof(error);
    if (refused) {
      throw new AppError(messageUnproven, { status: 503, message: refused.message, details: { retryAfterMs: 5_000 } });
    }
    throw error;
  }
}

/** That a worker did not take for ours what this API has signed: their stores or their clocks are not the same. */
function refusedProof(error: unknown): ApplicationFailure | undefined {
  if (error instanceof ApplicationFailure) {
    return error.type === messageUnproven ? error : undefined;
  }
  const wraps =
    error instanceof WorkflowUpdateFailedError ||
    error instanceof WorkflowFailedError ||
    error instanceof ActivityFailure;
  return wraps ? refusedProof(error.cause) : undefined;
}

function away(unsent: boolean): AppError {
  const outcome = unsent ? 'Nothing was started; try again.' : 'Read the current state before trying again.';
  return new AppError('TEMPORAL_UNAVAILABLE', {
    status: 503,
    message: `The workflow engine does not respond. ${outcome}`,
    details: { retryAfterMs: 5_000 },
  });
}
