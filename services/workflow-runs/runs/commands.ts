import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type MessageProofs, updateProofMs } from '../../../platform/crypto/message-proof';
import { untilReady } from '../../../platform/temporal/until-ready';
import { refuse } from '../http/errors';
import { runStart } from './dispatcher';
import {
  type Answer,
  answerQuestion,
  cancelRun,
  type Guidance,
  notNow,
  pauseRun,
  runMessage,
  type RunMessageKind,
  runWorkflowId,
  type Signed,
  steerRun,
  unpauseRun,
} from './execution/messages';
import type { workflowRun } from './execution/workflow';
import type { RunRecord } from './run';

/** How long a caller waits for a run before it is asked to retry. */
const answersWithinMs = 10_000;

/** Sends callers' commands on a run to its workflow, which decides, and returns when it is done. */
interface RunCommandsDependencies {
  client: Client;
  taskQueue: string;
  messageProofs: Pick<MessageProofs, 'sign'>;
}

export function createRunCommands({ client, taskQueue, messageProofs }: RunCommandsDependencies) {
  /** A message that a run takes, because the service has signed it. */
  const signed = <T extends object>(kind: RunMessageKind, runId: string, message: T): T & Signed => ({
    ...message,
    proof: messageProofs.sign(runMessage(kind, runId, message), updateProofMs),
  });

  /** @throws AppError 409 with the run's reason, or `late` when it has ended; 503 when the workflow does not respond */
  async function sendOrRefuse(late: string, send: () => Promise<unknown>): Promise<void> {
    try {
      const until = Date.now() + answersWithinMs;
      await client.withDeadline(until, () => untilReady(send, until));
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
        if (error.cause.type === notNow) {
          throw refuse(409, error.cause.message);
        }
      }
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError) {
        throw refuse(409, late);
      }
      if (isGrpcServiceError(error) || (error instanceof Error && error.name.startsWith('WorkflowUpdateRPC'))) {
        throw refuse(503, 'The run does not respond. Check whether the change took effect, and try again.');
      }
      throw error;
    }
  }

  const handle = (runId: string) => client.workflow.getHandle(runWorkflowId(runId));

  return {
    pause: (runId: string, late: string): Promise<void> =>
      sendOrRefuse(late, () => handle(runId).executeUpdate(pauseRun, { args: [signed('pause', runId, {})] })),

    unpause: (runId: string, late: string): Promise<void> =>
      sendOrRefuse(late, () => handle(runId).executeUpdate(unpauseRun, { args: [signed('unpause', runId, {})] })),

    answer: (runId: string, late: string, answer: Answer): Promise<void> =>
      sendOrRefuse(late, () =>
        handle(runId).executeUpdate(answerQuestion, { args: [signed('answer', runId, answer)] }),
      ),

    steer: (runId: string, late: string, guidance: Guidance): Promise<void> =>
      sendOrRefuse(late, () => handle(runId).executeUpdate(steerRun, { args: [signed('steer', runId, guidance)] })),

    /** Cancels a run, also one that has not begun: then its workflow begins to end. */
    cancel: (run: RunRecord, late: string): Promise<void> =>
      sendOrRefuse(late, () =>
        client.workflow.executeUpdateWithStart(cancelRun, {
          args: [signed('cancel', run._id, {})],
          startWorkflowOperation: new WithStartWorkflowOperation<typeof workflowRun>('workflowRun', {
            ...runStart(run, { taskQueue, messageProofs }),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
          }),
        }),
      ),
  };
}

export type RunCommands = ReturnType<typeof createRunCommands>;
