import { ApplicationFailure } from '@temporalio/workflow';

/** Rejects an update with a typed failure; a plain Error would only retry the workflow task. */
export function reject(type: string, message: string): never {
  throw ApplicationFailure.create({ type, message, nonRetryable: true });
}
