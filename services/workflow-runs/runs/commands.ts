import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { updateProofMs } from '../../../platform/crypto/message-proof';
import { untilReady } from '../../../platform/temporal/until-ready';
import { refuse } from '../http/errors';
import type { EndRun } from './end-run';
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
import { hasEnded, type RunRecord } from './run';
import { runStart, type RunStartDependencies, whyUnstartable } from './run-start';
import type { RunStore } from './store';

/** How long a caller waits for a run before it is asked to retry. */
const answersWithinMs = 10_000;

/** Sends callers' commands on a run to its workflow, which decides, and returns when it is done. */
interface RunCommandsDependencies extends RunStartDependencies {
  client: Client;
  runs: RunStore;
  endRun: EndRun;
}

export function createRunCommands(dependencies: RunCommandsDependencies) {
  const { client, messageProofs, runs, endRun } = dependencies;
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

  async function cancelByWorkflow(run: RunRecord): Promise<void> {
    const args: [Signed] = [signed('cancel', run._id, {})];
    if (run.status === 'running') {
      await handle(run._id).executeUpdate(cancelRun, { args });
      return;
    }
    await client.workflow.executeUpdateWithStart(cancelRun, {
      args,
      startWorkflowOperation: new WithStartWorkflowOperation<typeof workflowRun>('workflowRun', {
        ...(await runStart(run, dependencies)),
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
    });
  }

  /** @throws `error` when it does not say that the workflow is closed or cannot begin, or the run has ended with it */
  async function cancelWithoutWorkflow(runId: string, error: unknown): Promise<void> {
    const isOver = error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError;
    const run = isOver || whyUnstartable(error) !== undefined ? await runs.get(runId) : undefined;
    if (!run || hasEnded(run.status)) {
      throw error;
    }
    await endRun(run, { status: 'cancelled' });
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

    /** Cancels a run, also one that has not begun: then its workflow begins to end. One whose workflow is closed is ended here. */
    cancel: (run: RunRecord, late: string): Promise<void> =>
      sendOrRefuse(late, () => cancelByWorkflow(run).catch((error: unknown) => cancelWithoutWorkflow(run._id, error))),
  };
}

export type RunCommands = ReturnType<typeof createRunCommands>;
