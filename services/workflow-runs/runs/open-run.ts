import { ApplicationFailure } from '@temporalio/common';
import { activeStatuses, type RunRecord } from './run';

/**
 * Refuses the work of a run that has ended, or has not begun, by its record. That is retried: a workflow task that has recorded the end
 * may be repeated, and nothing is retried of a workflow that is closed.
 *
 * @throws ApplicationFailure
 */
export function assertOpen({ _id, status }: Pick<RunRecord, '_id' | 'status'>): void {
  if (!activeStatuses.includes(status)) {
    throw ApplicationFailure.retryable(`Run ${_id} is ${status}.`, 'RUN_NOT_OPEN');
  }
}
