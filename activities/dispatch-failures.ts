import { ApplicationFailure } from '@temporalio/common';

/** The run has ended or moved on: nobody waits for this any more. */
export const runGone = () => ApplicationFailure.nonRetryable('The run is gone.', 'RUN_GONE');

/** Repeated where that is allowed: the next worker goes on. */
export const workerShutDown = () =>
  ApplicationFailure.create({ type: 'WORKER_SHUTDOWN', message: 'The worker shut down.' });
