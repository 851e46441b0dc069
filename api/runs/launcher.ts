import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { CommandAnswer } from '../../contracts/agent-command';
import type { LaunchOutcome, LaunchRefusal } from '../../contracts/launch';
import type { LaunchPreview } from '../../contracts/launch-manifest';
import { startProofMs, updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError, conflict } from '../../platform/errors/app-error';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/ask-nexus';
import {
  agentRunId,
  commandUpdate,
  completeUpdate,
  launchUpdate,
  launchUpdateId,
  stopUpdate,
  type AgentRunInput,
  type CommandInput,
  type RunEnd,
  type StopInput,
} from '../../workflows/agent-run/messages';
import { cancelRecoveryUpdate, recoveryId, type CancelRecoveryInput } from '../../workflows/recovery/messages';
import {
  cancelRecoveryMessage,
  launchMessage,
  previewMessage,
  stopMessage,
  type Signed,
} from '../../workflows/message-proofs';
import { launchPreviewId } from '../../workflows/launch-preview/messages';
import type { PreviewInput } from '../../activities/prepare';
import { boardQueue, hostQueue } from '../../workflows/queues';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { AskHost } from '../temporal/ask-host';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

/** The workflows behind run endpoints: what the API may start, tell and ask. */
export function createRunLauncher(client: Client, ask: AskHost, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Starts the attempt's workflow and answers what admission decided; started already, it answers the same.
     * `undefined` when that workflow is over and was never asked: the answer is in the attempt.
     *
     * @throws AppError 503 `RUN_PENDING` when no worker answers in time: the launch is kept and will be decided
     */
    async launch(launch: AgentRunInput, workspaceId: string): Promise<LaunchOutcome | undefined> {
      const input = withProof(proofs, launch, launchMessage(launch), startProofMs);
      // Made anew for each try: one is good for one call.
      const start = () =>
        new WithStartWorkflowOperation('agentRun', {
          workflowId: agentRunId(input.attemptId),
          taskQueue: boardQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [input],
          staticSummary: `run of ${input.taskId}`,
          typedSearchAttributes: [
            { key: searchAttributes.taskId, value: input.taskId },
            { key: searchAttributes.attemptId, value: input.attemptId },
            { key: searchAttributes.workspaceId, value: workspaceId },
            { key: searchAttributes.rootObjectiveId, value: input.taskId },
            { key: searchAttributes.runState, value: 'admitting' },
          ],
        });
      try {
        return await withinDeadline(client, pending, () =>
          client.workflow.executeUpdateWithStart(launchUpdate, {
            startWorkflowOperation: start(),
            updateId: launchUpdateId,
          }),
        );
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return decided(client, input.attemptId);
        throw error;
      }
    },

    /**
     * Compiles a launch on the host that would run it.
     *
     * @throws AppError 503 `PREVIEW_FAILED`, or `RUN_PENDING` when no worker answers in time
     */
    async preview(plan: PreviewInput): Promise<LaunchPreview | LaunchRefusal> {
      const taskQueue = plan.hostId === null ? boardQueue : hostQueue(plan.hostId);
      const input = withProof(proofs, plan, previewMessage(plan), updateProofMs);
      try {
        return await ask('preview', { taskQueue, input, withinMs: previewWithinMs });
      } catch (error) {
        if (error instanceof NexusNotServedError)
          return withinDeadline(client, pending, () => previewInWorkflow(client, input));
        if (error instanceof NexusFailedError) throw error.unanswered ? pending() : notPreviewed();
        throw error;
      }
    },

    /** Answers once the end of the run is recorded; `undefined` when its workflow is over. */
    stop: (attemptId: string, actor: string): Promise<RunEnd | undefined> => {
      const stop = { attemptId, actor };
      const args: [StopInput] = [withProof(proofs, stop, stopMessage(stop), updateProofMs)];
      return unlessOver(client, () =>
        client.workflow.getHandle(agentRunId(attemptId)).executeUpdate(stopUpdate, { args }),
      );
    },

    /**
     * Answers what became of the command; `undefined` when the run's workflow is over.
     *
     * @param updateId another one for a command that the run has refused and may take now
     */
    command: (
      command: CommandInput & { commandId: string },
      updateId = command.commandId,
    ): Promise<CommandAnswer | undefined> =>
      unlessOver(client, () =>
        client.workflow.getHandle(agentRunId(command.attemptId)).executeUpdate(commandUpdate, {
          args: [command],
          updateId,
        }),
      ),

    /** Ends the wait of a recovery that was cancelled. Nothing depends on it: the record is asked when the wait is over. */
    async endRecoveryWait(attemptId: string, actor: string): Promise<void> {
      const cancel = { attemptId, actor };
      const args: [CancelRecoveryInput] = [withProof(proofs, cancel, cancelRecoveryMessage(cancel), updateProofMs)];
      const handle = client.workflow.getHandle(recoveryId(attemptId));
      await withinDeadline(
        client,
        pending,
        () => handle.executeUpdate(cancelRecoveryUpdate, { args }),
        endWaitWithinMs,
      );
    },

    /** Answers once the claim is recorded; `undefined` when the run's workflow is over. */
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
  client.workflow.execute<(input: PreviewInput & Signed) => Promise<LaunchPreview | LaunchRefusal>>('launchPreview', {
    workflowId: launchPreviewId(randomUUID()),
    taskQueue: boardQueue,
    workflowExecutionTimeout: '30 seconds',
    args: [input],
  });

/** What a workflow that is over answered: a refusal may have no attempt to be read from. */
async function decided(client: Client, attemptId: string): Promise<LaunchOutcome | undefined> {
  try {
    const launched = client.workflow.getHandle(agentRunId(attemptId)).getUpdateHandle<LaunchOutcome>(launchUpdateId);
    return await launched.result();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** An update of a run; `undefined` when the run is over, and typed rejections become the conflicts they are. */
async function unlessOver<T>(client: Client, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await withinDeadline(client, pending, call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === 'RUN_ENDED') return undefined;
    if (cause instanceof ApplicationFailure && cause.type) throw conflict(cause.message, evidenceOf(cause), cause.type);
    throw error;
  }
}

/** What a refusal of the workflow says for machines. */
const evidenceOf = ({ details }: ApplicationFailure): Record<string, unknown> => {
  const [first] = details ?? [];
  return typeof first === 'object' && first !== null ? { ...first } : {};
};

const notPreviewed = () =>
  new AppError('PREVIEW_FAILED', 503, 'The host of the run could not compile the launch; try again.', {
    retryAfterMs: 1_000,
  });

const pending = () =>
  new AppError(
    'RUN_PENDING',
    503,
    'The request is accepted and waits for a worker. Ask again with the same idempotency key, or read the status.',
    { retryAfterMs: 5_000 },
  );
