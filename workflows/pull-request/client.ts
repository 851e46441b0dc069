import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Refusal } from '../../contracts/refusal';
import { newOperationId } from '../../domain/worktree-operation-id';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { PullRequestOperation } from '../../stores/integrations/pull-request-store';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { operateMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import type { AskedFor } from '../worktree/messages';
import { pullRequestId, type PullRequestInput, type PullRequestOutcome } from './messages';

interface PullRequestLauncherOptions {
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
}

/** How often a workflow of another operation is met that ends at that moment. */
const tries = 5;

/** The workflow behind the pull requests of tasks. */
export function createPullRequestLauncher({ client, proofs, heartbeatTimeoutMs }: PullRequestLauncherOptions) {
  /** What is not committed is part of the pull request: the request to commit it, as the API signs it. */
  const commitOf = (taskId: string, actor: string): AskedFor => {
    const operation = { request: { kind: 'commit' as const }, actor, operationId: newOperationId() };
    return withProof(proofs, operation, { message: operateMessage(taskId, operation), lifetimeMs: startProofMs });
  };

  const execute = (taskId: string, operation: PullRequestOperation): Promise<PullRequestOutcome> =>
    withinDeadline(client, { pending }, () =>
      client.workflow.execute<(input: PullRequestInput) => Promise<PullRequestOutcome>>('pullRequest', {
        workflowId: pullRequestId(taskId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `${operation.kind} the pull request of ${taskId}`,
        typedSearchAttributes: [{ key: searchAttributes.taskId, value: taskId }],
        args: [
          {
            taskId,
            operationId: operation.id,
            heartbeatTimeoutMs,
            ...compact({ commit: operation.kind === 'publish' ? commitOf(taskId, operation.actor) : undefined }),
          },
        ],
      }),
    );

  return {
    /**
     * Runs an operation that is in the stores, or joins it, and returns why it was refused, if it was.
     *
     * @throws AppError 503 `PULL_REQUEST_PENDING` when it takes longer than a caller waits: it continues
     */
    async run(taskId: string, operation: PullRequestOperation): Promise<Refusal | null> {
      for (let attempt = 1; attempt <= tries; attempt += 1) {
        const outcome = await execute(taskId, operation);
        if (outcome.operationId === operation.id) {
          return outcome.refused;
        }
      }
      throw pending();
    },

    /** Whether an operation of the task is under way. */
    async isRunning(taskId: string): Promise<boolean> {
      try {
        const { status } = await client.workflow.getHandle(pullRequestId(taskId)).describe();
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) {
          return false;
        }
        throw error;
      }
    },
  };
}

const pending = () =>
  new AppError('PULL_REQUEST_PENDING', {
    status: 503,
    message: 'The pull request is still being made. Repeat the request, or read it with GET /api/github/pr/:taskId.',
    details: { retryAfterMs: 5_000 },
  });
