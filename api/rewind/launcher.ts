import type { Client } from '@temporalio/client';
import { startProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { rewindMessage, rewindPlanMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import {
  rewindPlanId,
  workspaceRewindId,
  type RewindCommitInput,
  type RewindOutcome,
  type RewindPlanInput,
} from '../../workflows/workspace-rewind/messages';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

/** The workflows behind a rewind: its plan, and its one execution. */
export function createRewindLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  const run = async (workflow: string, workflowId: string, input: { rewindId: string; attemptId: string }) => {
    const handle = await client.workflow.start<(input: object) => Promise<RewindOutcome>>(workflow, {
      workflowId,
      taskQueue: boardQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      staticSummary: `${workflow} of ${input.attemptId}`,
      typedSearchAttributes: [{ key: searchAttributes.attemptId, value: input.attemptId }],
    });
    return handle.result();
  };
  return {
    /** @throws AppError 503 `REWIND_PENDING` when the host of the worktree does not answer in time */
    plan: (input: RewindPlanInput): Promise<RewindOutcome> =>
      withinDeadline(client, pending, () => {
        const signed = withProof(proofs, input, rewindPlanMessage(input), startProofMs);
        return run('workspaceRewindPlan', rewindPlanId(input.rewindId), signed);
      }),

    /** @throws AppError 503 `REWIND_PENDING` as `plan`; the rewind goes on */
    commit: (input: RewindCommitInput): Promise<RewindOutcome> =>
      withinDeadline(client, pending, () => {
        const signed = withProof(proofs, input, rewindMessage(input), startProofMs);
        return run('workspaceRewind', workspaceRewindId(input.rewindId), signed);
      }),
  };
}

export type RewindLauncher = ReturnType<typeof createRewindLauncher>;

const pending = () =>
  new AppError('REWIND_PENDING', 503, 'The host of the worktree has not answered yet. Send the same request again.', {
    retryAfterMs: 5_000,
  });
