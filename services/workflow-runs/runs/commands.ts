import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { untilReady } from '../../../platform/temporal/until-ready';
import { refuse } from '../http/errors';
import { runStart } from './dispatcher';
import { cancelRun, notNow, runWorkflowId } from './messages';
import type { RunRecord } from './run';
import type { workflowRun } from './workflow';

/** How long a caller waits for a run before it is told to come back. */
const answersWithinMs = 10_000;

/** Sends what callers want of a run to its workflow, which decides, and answers when it is done. */
export function createRunCommands({ client, taskQueue }: { client: Client; taskQueue: string }) {
  /** @throws AppError 409 with the run's reason, or `late` when it has ended; 503 when nobody answers */
  async function told(late: string, send: () => Promise<unknown>): Promise<void> {
    try {
      const until = Date.now() + answersWithinMs;
      await client.withDeadline(until, () => untilReady(send, until));
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
        if (error.cause.type === notNow) throw refuse(409, error.cause.message);
      }
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError)
        throw refuse(409, late);
      if (isGrpcServiceError(error) || (error instanceof Error && error.name.startsWith('WorkflowUpdateRPC')))
        throw refuse(503, 'The run does not answer now. Look whether it was done, and try again.');
      throw error;
    }
  }

  return {
    /** Sends an update to the workflow of a run. */
    send: (runId: string, late: string, update: (run: WorkflowHandle) => Promise<unknown>): Promise<void> =>
      told(late, () => update(client.workflow.getHandle(runWorkflowId(runId)))),

    /** Cancels a run, also one that has not begun: then its workflow begins to end. */
    cancel: (run: RunRecord, late: string): Promise<void> =>
      told(late, () =>
        client.workflow.executeUpdateWithStart(cancelRun, {
          startWorkflowOperation: new WithStartWorkflowOperation<typeof workflowRun>('workflowRun', {
            ...runStart(run, taskQueue),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
          }),
        }),
      ),
  };
}

export type RunCommands = ReturnType<typeof createRunCommands>;
