import type { Client } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { rewindMessage, rewindPlanMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import {
  type RewindCommitInput,
  type RewindOutcome,
  rewindPlanId,
  type RewindPlanInput,
  workspaceRewindId,
} from './messages';

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
    /** @throws AppError 503 `REWIND_PENDING` when the host of the worktree does not respond in time */
    plan: (input: RewindPlanInput): Promise<RewindOutcome> =>
      withinDeadline(client, { pending }, () => {
        const signed = withProof(proofs, input, { message: rewindPlanMessage(input), lifetimeMs: startProofMs });
        return run('workspaceRewindPlan', rewindPlanId(input.rewindId), signed);
      }),

    /** @throws AppError 503 `REWIND_PENDING` as `plan`; the rewind continues */
    commit: (input: RewindCommitInput): Promise<RewindOutcome> =>
      withinDeadline(client, { pending }, () => {
        const signed = withProof(proofs, input, { message: rewindMessage(input), lifetimeMs: startProofMs });
        return run('workspaceRewind', workspaceRewindId(input.rewindId), signed);
      }),
  };
}

const pending = () =>
  new AppError('REWIND_PENDING', {
    status: 503,
    message: 'The host of the worktree has not responded yet. Repeat the same request.',
    details: { retryAfterMs: 5_000 },
  });
