import { CancellationScope, patched } from '@temporalio/workflow';

/** What came with it records the outcome of a cancelled workflow once its attempts have ended. */
export const settlesAfterAttempts = (): boolean => patched('settle-after-attempt');

/**
 * The outcome of an activity of `WAIT_CANCELLATION_COMPLETED` that sends a message. An attempt that an operator's "cancel" meets may
 * send it yet: the attempt is waited for, at most until its worker counts as lost.
 */
export function endOfAttempts(attempts: Promise<void>): Promise<void> {
  const cancelled = CancellationScope.current().cancelRequested.catch((error: unknown) => {
    if (!settlesAfterAttempts()) {
      throw error;
    }
    return attempts;
  });
  return Promise.race([attempts, cancelled]);
}
