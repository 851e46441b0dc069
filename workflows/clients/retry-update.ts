import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

/** How often an update is tried whose workflow ended at the very moment of the request. */
const tries = 3;

/** What Temporal calls an update that was accepted by a workflow in the moment in which it ended. */
const acceptedTooLate = 'AcceptedUpdateCompletedWorkflow';

/** Whether an update met a workflow that ended in that moment. */
export const endedMeanwhile = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError || (error instanceof WorkflowUpdateFailedError && isTooLate(error.cause));

const isTooLate = (cause: unknown): boolean => cause instanceof ApplicationFailure && cause.type === acceptedTooLate;

/**
 * Sends an update that starts its workflow where it does not run, and sends it again when it met one that ended in that
 * moment: the next one is new.
 *
 * @throws what the last try threw
 */
export async function retryUpdate<T>(update: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await update();
    } catch (error) {
      if (!endedMeanwhile(error) || attempt === tries) {
        throw error;
      }
    }
  }
}
