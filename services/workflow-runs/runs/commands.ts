import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure, type UpdateDefinition } from '@temporalio/common';
import { updateProofMs } from '../../../platform/crypto/message-proof';
import { AppError } from '../../../platform/errors/app-error';
import { hasStatus, untilReady } from '../../../platform/temporal/until-ready';
import { refuse } from '../http/errors';
import type { EndRun } from './end-run';
import {
  type Answer,
  answerQuestion,
  type Cancel,
  cancelRun,
  continuing,
  deliverWebhook,
  type Delivery,
  type Guidance,
  notNow,
  pauseRun,
  runMessage,
  type RunMessageKind,
  runWorkflowId,
  type Signed,
  steerRun,
  tooMuch,
  unpauseRun,
} from './execution/messages';
import type { workflowRun } from './execution/workflow';
import { whyOver } from './reconcile-runs';
import { hasEnded, type RunRecord } from './run';
import { runStart, type RunStartDependencies, whyUnstartable } from './run-start';
import type { RunStore } from './store';

/** How long a caller waits for a run before it is asked to retry. */
const answersWithinMs = 10_000;
/** How long an execution usually takes to continue as new. */
const continuesWithinMs = 100;

/** Commands to one run that may wait for it at a time: Temporal takes no more than 200 updates in flight, and a cancel has to get in. */
const maxInFlight = 100;
const unresponsive = 'The run does not respond. Check whether the change took effect, and try again.';
const tooManyAtOnce = 'Too many commands are sent to this run at once. Try again.';

/** What a command is about. */
interface Command {
  runId: string;
  /** The reason when it comes too late. */
  late: string;
}

/** The reason with which a workflow refused a command. */
const refusalOf = (error: unknown): ApplicationFailure | undefined =>
  error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure ? error.cause : undefined;

/** Whether Temporal could not be asked, or did not let the workflow be asked: its last task failed with the worker that had it. */
const isOfTemporal = (error: unknown): boolean =>
  isGrpcServiceError(error) || (error instanceof Error && isGrpcServiceError(error.cause));

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

  /** Sends again what came while the run's execution was about to continue as new. */
  async function untilContinued(runId: string, send: () => Promise<unknown>, until: number): Promise<void> {
    for (;;) {
      try {
        await untilReady(send, until);
        return;
      } catch (error) {
        const again =
          refusalOf(error)?.type === continuing ||
          (error instanceof WorkflowNotFoundError && (await whyOver(client, runId)) === undefined);
        if (!again) {
          throw error;
        }
        if (Date.now() + continuesWithinMs >= until) {
          throw refuse(503, unresponsive);
        }
      }
      await delay(continuesWithinMs);
    }
  }

  /**
   * @throws AppError 409 with the run's reason, or `late` when it has ended; 429 when it takes no more; 503 when the workflow
   *   does not respond
   */
  async function sendOrRefuse({ runId, late }: Command, send: () => Promise<unknown>): Promise<void> {
    try {
      const until = Date.now() + answersWithinMs;
      await client.withDeadline(until, () => untilContinued(runId, send, until));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal?.type === notNow) {
        throw refuse(409, refusal.message);
      }
      if (refusal?.type === tooMuch) {
        throw new AppError('REFUSED', { status: 429, message: refusal.message, details: { reason: tooMuch } });
      }
      if (hasStatus(error, status.RESOURCE_EXHAUSTED)) {
        throw refuse(429, tooManyAtOnce);
      }
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError) {
        throw refuse(409, late);
      }
      if (isOfTemporal(error) || (error instanceof Error && error.name.startsWith('WorkflowUpdateRPC'))) {
        throw refuse(503, unresponsive);
      }
      throw error;
    }
  }

  const inFlight = new Map<string, number>();

  /** @throws AppError 429 when as many commands wait for the run as may; and as `sendOrRefuse` */
  async function sendIfFew(command: Command, send: () => Promise<unknown>): Promise<void> {
    const { runId } = command;
    const others = inFlight.get(runId) ?? 0;
    if (others >= maxInFlight) {
      throw refuse(429, tooManyAtOnce);
    }
    inFlight.set(runId, others + 1);
    try {
      await sendOrRefuse(command, send);
    } finally {
      const left = (inFlight.get(runId) ?? 1) - 1;
      if (left > 0) {
        inFlight.set(runId, left);
      } else {
        inFlight.delete(runId);
      }
    }
  }

  async function cancelByWorkflow(run: RunRecord, how: Pick<Cancel, 'byParent'>): Promise<void> {
    const args: [Cancel] = [signed('cancel', run._id, how)];
    if (run.status === 'running' || run.status === 'paused') {
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
    const notThere = error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError;
    const isOver = notThere && (await whyOver(client, runId)) !== undefined;
    const run = isOver || whyUnstartable(error) !== undefined ? await runs.get(runId) : undefined;
    if (!run || hasEnded(run.status)) {
      throw error;
    }
    await endRun(run, { status: 'cancelled' });
  }

  const handle = (runId: string) => client.workflow.getHandle(runWorkflowId(runId));

  /** Signs a command once: a run recognises one that is sent to it again. */
  const update = <Message extends Signed>(
    definition: UpdateDefinition<unknown, [Message]>,
    kind: RunMessageKind,
    { runId, late, message }: Command & { message: Message },
  ): Promise<void> => {
    const args: [Message] = [signed(kind, runId, message)];
    return sendIfFew({ runId, late }, () => handle(runId).executeUpdate(definition, { args }));
  };

  /**
   * Signs and sends again what a run refuses while its record waits for it: after a crash its workflow may not have
   * come as far as its record yet.
   */
  async function whileOpen(
    runId: string,
    isOpen: (run: RunRecord) => boolean,
    send: () => Promise<void>,
  ): Promise<void> {
    const until = Date.now() + answersWithinMs;
    for (;;) {
      try {
        await send();
        return;
      } catch (error) {
        const isRefused = error instanceof AppError && error.status === 409;
        const run = isRefused && Date.now() + continuesWithinMs < until ? await runs.get(runId) : undefined;
        if (!run || !isOpen(run)) {
          throw error;
        }
      }
      await delay(continuesWithinMs);
    }
  }

  return {
    pause: (runId: string, late: string) => update(pauseRun, 'pause', { runId, late, message: {} }),
    unpause: (runId: string, late: string) => update(unpauseRun, 'unpause', { runId, late, message: {} }),
    answer: (runId: string, late: string, message: Answer) =>
      whileOpen(
        runId,
        ({ questions = [] }) => questions.some(({ id }) => id === message.questionId),
        () => update(answerQuestion, 'answer', { runId, late, message }),
      ),
    deliver: (runId: string, late: string, message: Delivery) =>
      whileOpen(
        runId,
        ({ webhooks = [] }) => webhooks.some(({ stage_id }) => stage_id === message.stageId),
        () => update(deliverWebhook, 'deliver', { runId, late, message }),
      ),
    steer: (runId: string, late: string, message: Guidance) => update(steerRun, 'steer', { runId, late, message }),

    /** Cancels a run, also one that has not begun: then its workflow begins to end. One whose workflow is closed is ended here. */
    cancel: (run: RunRecord, late: string, how: Pick<Cancel, 'byParent'> = {}): Promise<void> =>
      sendOrRefuse({ runId: run._id, late }, () =>
        cancelByWorkflow(run, how).catch((error: unknown) => cancelWithoutWorkflow(run._id, error)),
      ),
  };
}

export type RunCommands = ReturnType<typeof createRunCommands>;
