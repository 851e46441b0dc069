import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';

/** How long the tracker asked to wait, in milliseconds, if it did. */
export function waitOf(error: unknown): number | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const [stated] = cause instanceof ApplicationFailure ? ((cause.details ?? []) as { retryAfterMs?: number }[]) : [];
  return stated?.retryAfterMs;
}

/** Whether a failure has a code that is meant for callers. */
const isStated = ({ type }: ApplicationFailure): boolean => type?.startsWith('TRACKER_') === true;

/** Why a step failed for good, as a refusal. @throws what is no failure of an activity */
export function failedRefusal(error: unknown): Refusal {
  if (!(error instanceof ActivityFailure)) {
    throw error;
  }
  const { cause } = error;
  const [code, message] =
    cause instanceof ApplicationFailure && isStated(cause)
      ? [cause.type ?? '', cause.message]
      : ['TRACKER_FAILED', 'The worker failed, or did not respond in time.'];
  const retryAfterMs = waitOf(error);
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { status: 'refused', code, message: `${message} Repeat the request to continue.`, details };
}
