import { ApplicationFailure } from '@temporalio/common';

/** The run has ended or moved on: no workflow waits for this any more. */
export const runGone = () => ApplicationFailure.nonRetryable('The run no longer exists.', 'RUN_GONE');

/** Repeated where that is allowed: the next worker resumes it. */
export const workerShutDown = () =>
  ApplicationFailure.create({ type: 'WORKER_SHUTDOWN', message: 'The worker shut down.' });
