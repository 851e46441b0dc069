import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { compact } from '../../platform/json/compact';
import { ForgeError, type ForgeErrorCode } from '../../providers/forges/forge-error';

/** The codes of refusals and failures that errors of trackers become. */
const codes: Record<ForgeErrorCode, string> = {
  unauthorized: 'TRACKER_UNAUTHORIZED',
  forbidden: 'TRACKER_FORBIDDEN',
  'not-found': 'TRACKER_NOT_FOUND',
  invalid: 'TRACKER_INVALID',
  'rate-limited': 'TRACKER_RATE_LIMITED',
  unavailable: 'TRACKER_UNAVAILABLE',
  moved: 'TRACKER_MOVED',
  'refused-address': 'TRACKER_REFUSED_ADDRESS',
};

/**
 * Calls a tracker in an activity. What will not pass is a refusal, `TRACKER_UNAUTHORIZED` and the like.
 *
 * @throws ApplicationFailure for what passes, with the time that the tracker has asked to wait
 */
export async function callTracker<T>(call: () => Promise<T>): Promise<{ value: T } | Refusal> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    const { code, message, retryAfterMs } = error;
    if (code === 'unavailable' || code === 'rate-limited') {
      throw ApplicationFailure.create({
        type: codes[code],
        message,
        details: [compact({ retryAfterMs })],
        ...(retryAfterMs === undefined ? {} : { nextRetryDelay: retryAfterMs }),
      });
    }
    return refusal(codes[code], message);
  }
}
