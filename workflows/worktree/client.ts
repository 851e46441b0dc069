import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../contracts/refusal';
import type { ConflictRead, ConflictReading } from '../../contracts/runs/conflict';
import type { DiffRead, DiffReading } from '../../contracts/runs/diff';
import type { WorktreeRequest } from '../../contracts/runs/worktrees/request';
import type { EditorOpened, WorktreeInspection } from '../../contracts/runs/worktrees/worktree';
import { newOperationId } from '../../domain/worktree-operation-id';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError, conflict } from '../../platform/errors/app-error';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/nexus-client';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import type { HostClient } from '../clients/host-client';
import { endedMeanwhile, retryUpdate } from '../clients/retry-update';
import { withProof } from '../clients/with-proof';
import { inspectMessage, openEditorMessage, operateMessage, readDiffMessage } from '../message-proofs';
import { boardQueue, hostQueue } from '../queues';
import { type DiffInput, type WorktreeLocation, worktreeViewId } from '../worktree-view/messages';
import { operateUpdate, worktreeBusy, worktreeId, type WorktreeOutcome } from './messages';

interface WorktreeLauncherOptions {
  client: Client;
  ask: HostClient;
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
}

/** How long a host may take to inspect a worktree, in milliseconds. */
const inspectWithinMs = 15_000;

/** The workflows behind worktree endpoints. */
export function createWorktreeLauncher({ client, ask, proofs, heartbeatTimeoutMs }: WorktreeLauncherOptions) {
  const inspectInWorkflow = (locations: WorktreeLocation[]): Promise<(WorktreeInspection | null)[]> =>
    withinDeadline(client, { pending }, () =>
      client.workflow.execute<(input: { places: WorktreeLocation[] }) => Promise<(WorktreeInspection | null)[]>>(
        'worktreeInspection',
        { ...viewing(), args: [{ places: locations }] },
      ),
    );

  const inspectOne = async ({ taskId, hostId }: WorktreeLocation): Promise<WorktreeInspection | null> => {
    try {
      const input = withProof(proofs, { taskId }, { message: inspectMessage({ taskId }), lifetimeMs: updateProofMs });
      return await ask('inspect', { taskQueue: hostQueue(hostId), input, withinMs: inspectWithinMs });
    } catch (error) {
      if (error instanceof NexusFailedError) {
        return null;
      }
      throw error;
    }
  };

  function readFiles(hostId: string, read: DiffRead): Promise<DiffReading | Refusal>;
  function readFiles(hostId: string, read: ConflictRead): Promise<ConflictReading | Refusal>;
  async function readFiles(
    hostId: string,
    read: DiffRead | ConflictRead,
  ): Promise<DiffReading | ConflictReading | Refusal> {
    const query = withProof(proofs, read, { message: readDiffMessage(read), lifetimeMs: updateProofMs });
    try {
      return await ask('readDiff', { taskQueue: hostQueue(hostId), input: query, withinMs: inspectWithinMs });
    } catch (error) {
      if (error instanceof NexusFailedError) {
        throw away(hostId);
      }
      if (!(error instanceof NexusNotServedError)) {
        throw error;
      }
    }
    const diff = { ...viewing(), args: [{ hostId, query }] satisfies [DiffInput] };
    return withinDeadline(client, { pending: () => away(hostId) }, () =>
      client.workflow.execute<(input: DiffInput) => Promise<DiffReading | ConflictReading | Refusal>>(
        'worktreeDiff',
        diff,
      ),
    );
  }

  return {
    /**
     * Runs the operation, or joins the same one that runs already, and returns how it ended.
     *
     * @throws AppError 409 `WORKTREE_BUSY` when another operation runs; 503 `WORKTREE_PENDING` when it takes longer than a
     *   caller waits: it continues
     */
    async operate(taskId: string, request: WorktreeRequest, actor: string): Promise<WorktreeOutcome> {
      const operation = { request, actor, operationId: newOperationId() };
      const asked = withProof(proofs, operation, {
        message: operateMessage(taskId, operation),
        lifetimeMs: updateProofMs,
      });
      try {
        return await retryUpdate(() =>
          withinDeadline(client, { pending }, () =>
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

    /** The inspection of worktrees on their hosts; `null` where a host does not respond. */
    inspect: (locations: WorktreeLocation[]): Promise<(WorktreeInspection | null)[]> =>
      Promise.all(locations.map(inspectOne)).catch((error: unknown) => {
        if (error instanceof NexusNotServedError) {
          return inspectInWorkflow(locations);
        }
        throw error;
      }),

    /**
     * Compares states of the files of a task, or reads one file, on the host of its worktree.
     *
     * @throws AppError 503 `DIFF_PENDING` when the host does not respond in time
     */
    readDiff: (hostId: string, read: DiffRead): Promise<DiffReading | Refusal> => readFiles(hostId, read),

    /** Reads the conflicts in a worktree, on its host. @throws AppError 503 `DIFF_PENDING` likewise */
    readConflicts: (hostId: string, read: ConflictRead): Promise<ConflictReading | Refusal> => readFiles(hostId, read),

    open: ({ taskId, hostId }: WorktreeLocation): Promise<EditorOpened | Refusal> =>
      withinDeadline(client, { pending }, () =>
        client.workflow.execute<(place: WorktreeLocation) => Promise<EditorOpened | Refusal>>('worktreeOpen', {
          ...viewing(),
          args: [
            {
              hostId,
              ...withProof(proofs, { taskId }, { message: openEditorMessage({ taskId }), lifetimeMs: updateProofMs }),
            },
          ],
        }),
      ),
  };
}

/** A caller waits for it: an inspection that no worker accepts times out. */
const viewing = () =>
  ({
    workflowId: worktreeViewId(randomUUID()),
    taskQueue: boardQueue,
    workflowExecutionTimeout: '30 seconds',
  }) as const;

/** The host has not responded, or has needed too long. */
const away = (hostId: string) =>
  new AppError('DIFF_PENDING', {
    status: 503,
    message: `The host ${hostId} did not respond in time; try again.`,
    details: { hostId, retryAfterMs: 5_000 },
  });

const pending = () =>
  new AppError('WORKTREE_PENDING', {
    status: 503,
    message: 'The operation is still running. Repeat the request, or read the status.',
    details: { retryAfterMs: 5_000 },
  });

/** What another operation that runs is to the caller. */
function refused(taskId: string, error: unknown): unknown {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== worktreeBusy) {
    return error;
  }
  return conflict(cause.message, { taskId, operation: cause.details?.[0] }, worktreeBusy);
}
