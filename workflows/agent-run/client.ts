import { randomUUID } from 'node:crypto';
import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { PreviewInput } from '../../activities/agent-run/prepare/activities';
import type { Refusal } from '../../contracts/refusal';
import type { CommandResponse } from '../../contracts/runs/command';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import type { LaunchPreview } from '../../contracts/runs/launch/manifest';
import { type MessageProofs, startProofMs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError, conflict } from '../../platform/errors/app-error';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/nexus-client';
import { withinDeadline } from '../clients/deadline';
import type { HostClient } from '../clients/host-client';
import { withProof } from '../clients/with-proof';
import { launchPreviewId } from '../launch-preview/messages';
import { cancelRecoveryMessage, launchMessage, previewMessage, type Signed, stopMessage } from '../message-proofs';
import { boardQueue, hostQueue } from '../queues';
import { type CancelRecoveryInput, cancelRecoveryUpdate, recoveryId } from '../recovery/messages';
import { decidedLaunch } from './launch-client';
import { launchOptions } from './launch-options';
import {
  agentRunId,
  type AgentRunInput,
  type CommandInput,
  commandUpdate,
  completeUpdate,
  launchUpdate,
  launchUpdateId,
  type RunEnd,
  type StopInput,
  stopUpdate,
} from './messages';

/** The workflows behind run endpoints: what the API may start, signal, update and query. */
export function createRunLauncher(client: Client, ask: HostClient, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Starts the attempt's workflow and returns the decision of admission; started already, it returns the same. `undefined`
     * when that workflow ended without a decision that can be read: it may be in the attempt.
     *
     * @throws AppError 503 `RUN_PENDING` when no worker responds in time: the launch is stored and will be decided
     */
    async launch(launch: AgentRunInput): Promise<LaunchOutcome | undefined> {
      const input = withProof(proofs, launch, { message: launchMessage(launch), lifetimeMs: startProofMs });
      // Created for each try: an operation is good for one call.
      const start = () => new WithStartWorkflowOperation('agentRun', launchOptions(input, `run of ${input.taskId}`));
      try {
        return await withinDeadline(client, { pending }, () =>
          client.workflow.executeUpdateWithStart(launchUpdate, {
            startWorkflowOperation: start(),
            updateId: launchUpdateId,
          }),
        );
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) {
          return decidedLaunch(client, input.attemptId);
        }
        throw error;
      }
    },

    /**
     * Compiles a launch on the host that would run it.
     *
     * @throws AppError 503 `PREVIEW_FAILED`, or `RUN_PENDING` when no worker responds in time
     */
    async preview(plan: PreviewInput): Promise<LaunchPreview | Refusal> {
      const taskQueue = plan.hostId === null ? boardQueue : hostQueue(plan.hostId);
      const input = withProof(proofs, plan, { message: previewMessage(plan), lifetimeMs: updateProofMs });
      try {
        return await ask('preview', { taskQueue, input, withinMs: previewWithinMs });
      } catch (error) {
        if (error instanceof NexusNotServedError) {
          return withinDeadline(client, { pending }, () => previewInWorkflow(client, input));
        }
        if (error instanceof NexusFailedError) {
          throw error.unanswered ? pending() : notPreviewed();
        }
        throw error;
      }
    },

    /** Resolves once the end of the run is recorded; `undefined` when its workflow is over. */
    stop: (attemptId: string, actor: string): Promise<RunEnd | undefined> => {
      const stop = { attemptId, actor };
      const args: [StopInput] = [withProof(proofs, stop, { message: stopMessage(stop), lifetimeMs: updateProofMs })];
      return unlessOver(client, () =>
        client.workflow.getHandle(agentRunId(attemptId)).executeUpdate(stopUpdate, { args }),
      );
    },

    /**
     * Returns the outcome of the command; `undefined` when the run's workflow is over.
     *
     * @param updateId another id for a command that the run has refused and may accept now
     */
    command: (
      command: CommandInput & { commandId: string },
      updateId = command.commandId,
    ): Promise<CommandResponse | undefined> =>
      unlessOver(client, () =>
        client.workflow.getHandle(agentRunId(command.attemptId)).executeUpdate(commandUpdate, {
          args: [command],
          updateId,
        }),
      ),

    /** Ends the wait of a recovery that was cancelled. Nothing depends on it: the record is read when the wait is over. */
    async endRecoveryWait(attemptId: string, actor: string): Promise<void> {
      const cancel = { attemptId, actor };
      const args: [CancelRecoveryInput] = [
        withProof(proofs, cancel, { message: cancelRecoveryMessage(cancel), lifetimeMs: updateProofMs }),
      ];
      const handle = client.workflow.getHandle(recoveryId(attemptId));
      await withinDeadline(client, { pending, withinMs: endWaitWithinMs }, () =>
        handle.executeUpdate(cancelRecoveryUpdate, { args }),
      );
    },

    /** Resolves once the claim is recorded; `undefined` when the run's workflow is over. */
    complete: (attemptId: string, claimDigest: string): Promise<RunEnd | undefined> =>
      unlessOver(client, () =>
        client.workflow.getHandle(agentRunId(attemptId)).executeUpdate(completeUpdate, {
          args: [{ attemptId, claimDigest }],
          updateId: claimDigest,
        }),
      ),
  };
}

export type RunLauncher = ReturnType<typeof createRunLauncher>;

/** How long a recovery's workflow may take to end its wait, in milliseconds. */
const endWaitWithinMs = 5_000;

/** How long a host may take to compile a preview, in milliseconds. */
const previewWithinMs = 20_000;

const previewInWorkflow = (client: Client, input: PreviewInput & Signed) =>
  client.workflow.execute<(input: PreviewInput & Signed) => Promise<LaunchPreview | Refusal>>('launchPreview', {
    workflowId: launchPreviewId(randomUUID()),
    taskQueue: boardQueue,
    workflowExecutionTimeout: '30 seconds',
    args: [input],
  });

/** An update of a run; `undefined` when the run is over, and typed rejections become the conflicts they are. */
async function unlessOver<T>(client: Client, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await withinDeadline(client, { pending }, call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      return undefined;
    }
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'RUN_ENDED') {
      return undefined;
    }
    if (cause instanceof ApplicationFailure && cause.type) {
      throw conflict(cause.message, evidenceOf(cause), cause.type);
    }
    throw error;
  }
}

/** The machine-readable evidence of a workflow's refusal. */
const evidenceOf = ({ details }: ApplicationFailure): Record<string, unknown> => {
  const [first] = details ?? [];
  return typeof first === 'object' && first !== null ? { ...first } : {};
};

const notPreviewed = () =>
  new AppError('PREVIEW_FAILED', {
    status: 503,
    message: 'The host of the run could not compile the launch; try again.',
    details: { retryAfterMs: 1_000 },
  });

const pending = () =>
  new AppError('RUN_PENDING', {
    status: 503,
    message:
      'The request is accepted and waits for a worker. Repeat it with the same idempotency key, or read the status.',
    details: { retryAfterMs: 5_000 },
  });
