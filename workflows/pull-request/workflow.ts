import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, CancellationScope, setCurrentDetails } from '@temporalio/workflow';
import type { BegunPullRequest } from '../../activities/pull-request/activities';
import type { Refusal } from '../../contracts/refusal';
import { executeWorktree } from '../worktree/child';
import type { PullRequestInput, PullRequestOutcome } from './messages';
import { forgeWithin, pushOn, records } from './proxies';

/**
 * One operation on the pull request of a task: commit, push, create or update, write it on the task. Each step finds what an
 * earlier try of it did, so that there is one pull request wherever a process was killed. A cancellation is ignored: it would
 * leave a branch at the forge without its pull request.
 */
export async function pullRequest(input: PullRequestInput): Promise<PullRequestOutcome> {
  return CancellationScope.nonCancellable(async () => {
    const { taskId, operationId } = input;
    const begun = await begin(taskId, operationId);
    if (begun.over) {
      return { operationId, refused: begun.refused };
    }
    const refused = await perform(input, begun);
    await records.settlePullRequest({ taskId, operationId, refused });
    return { operationId, refused };
  });
}

/** A request that another one has replaced is refused, as one that cannot be done. */
async function begin(taskId: string, operationId: string): Promise<BegunPullRequest> {
  try {
    return await records.beginPullRequest({ taskId, operationId });
  } catch (error) {
    return { over: true, refused: failed(taskId, error) };
  }
}

type Begun = Extract<BegunPullRequest, { over: false }>;

async function perform(input: PullRequestInput, { hostId, reads }: Begun): Promise<Refusal | null> {
  const { taskId, operationId, heartbeatTimeoutMs } = input;
  try {
    if (hostId !== null) {
      setCurrentDetails(`The work on ${taskId} is **committed** and **pushed**.`);
      const refused =
        (await commit(input)) ??
        (await pushOn(hostId, heartbeatTimeoutMs).pushPullRequest({ taskId, operationId })).refused;
      if (refused) {
        return refused;
      }
    }
    setCurrentDetails(`The pull request of ${taskId} is **${reads ? 'read' : 'created or updated'}**.`);
    const forge = forgeWithin(input);
    const { refused } = reads
      ? await forge.refreshPullRequest({ taskId, operationId })
      : await forge.openPullRequest({ taskId, operationId });
    if (refused) {
      return refused;
    }
    await records.notePullRequest({ taskId, operationId });
    return null;
  } catch (error) {
    return failed(taskId, error);
  }
}

/** Commits what is not committed, through the workflow of the worktree; nothing to commit is no refusal. */
async function commit({ taskId, commit: asked, heartbeatTimeoutMs }: PullRequestInput): Promise<Refusal | null> {
  if (!asked) {
    return null;
  }
  try {
    const outcome = await executeWorktree({ taskId, ...asked, heartbeatTimeoutMs }, `commit worktree of ${taskId}`);
    return outcome.status === 'refused' && outcome.code !== 'WORKTREE_NOTHING_TO_COMMIT' ? outcome : null;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
      throw error;
    }
    const message = 'Another operation runs on the worktree of the task; repeat the request when it has ended.';
    return { status: 'refused', code: 'WORKTREE_BUSY', message, details: { taskId } };
  }
}

/** Why a step failed for good, as a refusal: what was done until then stays, and the same request continues there. */
function failed(taskId: string, error: unknown): Refusal {
  if (!(error instanceof ActivityFailure)) {
    throw error;
  }
  const { cause } = error;
  const [code, message] =
    cause instanceof ApplicationFailure
      ? [cause.type ?? 'PULL_REQUEST_FAILED', cause.message]
      : ['HOST_UNAVAILABLE', 'The host of the worktree, or the forge, did not respond.'];
  const details = { taskId, ...waitOf(cause) };
  return { status: 'refused', code, message: `${message} Repeat the request to continue.`, details };
}

/** How long a forge has asked to wait, if it has. */
function waitOf(cause: Error | undefined): { retryAfterMs?: number } {
  const [stated] = cause instanceof ApplicationFailure ? ((cause.details ?? []) as { retryAfterMs?: number }[]) : [];
  return stated?.retryAfterMs === undefined ? {} : { retryAfterMs: stated.retryAfterMs };
}
