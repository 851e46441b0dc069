import type { Client } from '@temporalio/client';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { boardQueue } from '../../workflows/queues';
import {
  rewindPlanId,
  workspaceRewindId,
  type RewindCommitInput,
  type RewindOutcome,
  type RewindPlanInput,
} from '../../workflows/workspace-rewind/messages';
import { withinDeadline } from '../temporal/deadline';

/** The workflows behind a rewind: its plan, and its one execution. */
export function createRewindLauncher(client: Client) {
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
      withinDeadline(client, pending, () => run('workspaceRewindPlan', rewindPlanId(input.rewindId), input)),

    /** @throws AppError 503 `REWIND_PENDING` as `plan`; the rewind goes on */
    commit: (input: RewindCommitInput): Promise<RewindOutcome> =>
      withinDeadline(client, pending, () => run('workspaceRewind', workspaceRewindId(input.rewindId), input)),
  };
}

export type RewindLauncher = ReturnType<typeof createRewindLauncher>;

const pending = () =>
  new AppError('REWIND_PENDING', 503, 'The host of the worktree has not answered yet. Send the same request again.', {
    retryAfterMs: 5_000,
  });
