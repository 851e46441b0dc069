import { ApplicationFailure } from '@temporalio/common';
import type {
  PullRequestOperation,
  PullRequestRecord,
  PullRequestStore,
} from '../../stores/integrations/pull-request-store';

/** An operation of the pull request of a task, by its id. */
export interface OperationRef {
  taskId: string;
  operationId: string;
}

export type RecordWithOperation = PullRequestRecord & { operation: PullRequestOperation };

/** The record while this operation is under way. @throws ApplicationFailure, not retried, when it is over */
export async function currentRecord(
  pullRequests: Pick<PullRequestStore, 'get'>,
  { taskId, operationId }: OperationRef,
): Promise<RecordWithOperation> {
  const record = await pullRequests.get(taskId);
  if (record?.operation?.id !== operationId) {
    const message = 'Another request for the pull request of this task came in between.';
    throw ApplicationFailure.create({ type: 'PULL_REQUEST_SUPERSEDED', message, nonRetryable: true });
  }
  return record as RecordWithOperation;
}

/** Changes the record as it was read; when another writer was first, the whole activity is repeated. */
export async function changeRecord(
  pullRequests: Pick<PullRequestStore, 'change'>,
  ...change: Parameters<PullRequestStore['change']>
): Promise<RecordWithOperation> {
  const changed = await pullRequests.change(...change);
  if (!changed) {
    throw ApplicationFailure.create({
      type: 'REVISION_MOVED',
      message: `The pull request of ${change[0]._id} changed in the meantime.`,
      nextRetryDelay: '50 milliseconds',
    });
  }
  return changed as RecordWithOperation;
}
