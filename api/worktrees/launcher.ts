import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { EditorOpened, WorktreeInspection } from '../../contracts/worktree';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeRequest } from '../../contracts/worktree-request';
import { updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError, conflict } from '../../platform/errors/app-error';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/ask-nexus';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { inspectMessage, openEditorMessage, operateMessage } from '../../workflows/message-proofs';
import { boardQueue, hostQueue } from '../../workflows/queues';
import { newOperationId } from '../../runs/worktree-operation-id';
import { operateUpdate, worktreeBusy, worktreeId, type WorktreeOutcome } from '../../workflows/worktree/messages';
import { worktreeViewId, type WorktreePlace } from '../../workflows/worktree-view/messages';
import { askAgain, endedMeanwhile } from '../temporal/ask-again';
import type { AskHost } from '../temporal/ask-host';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

interface WorktreeLauncherOptions {
  client: Client;
  ask: AskHost;
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
}

/** How long a host may take to look at a worktree, in milliseconds. */
const inspectWithinMs = 15_000;

/** The workflows behind worktree endpoints. */
export function createWorktreeLauncher({ client, ask, proofs, heartbeatTimeoutMs }: WorktreeLauncherOptions) {
  const inspectInWorkflow = (places: WorktreePlace[]): Promise<(WorktreeInspection | null)[]> =>
    withinDeadline(client, pending, () =>
      client.workflow.execute<(input: { places: WorktreePlace[] }) => Promise<(WorktreeInspection | null)[]>>(
        'worktreeInspection',
        { ...viewing(), args: [{ places }] },
      ),
    );

  const inspectOne = async ({ taskId, hostId }: WorktreePlace): Promise<WorktreeInspection | null> => {
    try {
      const input = withProof(proofs, { taskId }, inspectMessage({ taskId }), updateProofMs);
      return await ask('inspect', { taskQueue: hostQueue(hostId), input, withinMs: inspectWithinMs });
    } catch (error) {
      if (error instanceof NexusFailedError) return null;
      throw error;
    }
  };

  return {
    /**
     * Runs the operation, or joins the same one that runs already, and answers how it ended.
     *
     * @throws AppError 409 `WORKTREE_BUSY` when another operation runs; 503 `WORKTREE_PENDING` when it takes longer than
     *   a caller waits: it goes on
     */
    async operate(taskId: string, request: WorktreeRequest, actor: string): Promise<WorktreeOutcome> {
      const operation = { request, actor, operationId: newOperationId() };
      const asked = withProof(proofs, operation, operateMessage(taskId, operation), updateProofMs);
      try {
        return await askAgain(() =>
          withinDeadline(client, pending, () =>
            client.workflow.executeUpdateWithStart(operateUpdate, {
              args: [asked],
              startWorkflowOperation: new WithStartWorkflowOperation('worktree', {
                workflowId: worktreeId(taskId),
                taskQueue: boardQueue,
                workflowIdConflictPolicy: 'USE_EXISTING',
                args: [{ taskId, ...asked, heartbeatTimeoutMs }],
                staticSummary: `${request.kind} worktree of ${taskId}`,
                typedSearchAttributes: [{ key: searchAttributes.taskId, value: taskId }],
              }),
            }),
          ),
        );
      } catch (error) {
        throw endedMeanwhile(error) ? pending() : refused(taskId, error);
      }
    },

    /** What is to be seen of worktrees on their hosts; `null` where a host does not answer. */
    inspect: (places: WorktreePlace[]): Promise<(WorktreeInspection | null)[]> =>
      Promise.all(places.map(inspectOne)).catch((error: unknown) => {
        if (error instanceof NexusNotServedError) return inspectInWorkflow(places);
        throw error;
      }),

    open: ({ taskId, hostId }: WorktreePlace): Promise<EditorOpened | LaunchRefusal> =>
      withinDeadline(client, pending, () =>
        client.workflow.execute<(place: WorktreePlace) => Promise<EditorOpened | LaunchRefusal>>('worktreeOpen', {
          ...viewing(),
          args: [{ hostId, ...withProof(proofs, { taskId }, openEditorMessage({ taskId }), updateProofMs) }],
        }),
      ),
  };
}

export type WorktreeLauncher = ReturnType<typeof createWorktreeLauncher>;

/** Somebody waits for it: a look that nobody takes up ends by itself. */
const viewing = () =>
  ({
    workflowId: worktreeViewId(randomUUID()),
    taskQueue: boardQueue,
    workflowExecutionTimeout: '30 seconds',
  }) as const;

const pending = () =>
  new AppError('WORKTREE_PENDING', 503, 'The operation goes on and has not ended yet. Ask again, or read the status.', {
    retryAfterMs: 5_000,
  });

/** What another operation that runs is to the caller. */
function refused(taskId: string, error: unknown): unknown {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== worktreeBusy) return error;
  return conflict(cause.message, { taskId, operation: cause.details?.[0] }, worktreeBusy);
}
