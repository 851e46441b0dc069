import { CancellationScope, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Acceptance, ReviewAcceptanceActivities } from '../../activities/review-acceptance/activities';
import type { Refusal } from '../../contracts/refusal';
import { pullRequestAsChild } from '../pull-request/child';
import { operateAsChild } from '../worktree/child';
import type { AskedFor } from '../worktree/messages';
import type { ReviewAcceptanceInput, ReviewOutcome } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const records = proxyActivities<ReviewAcceptanceActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Accepts the result of a run: closes the review against other decisions, delivers the result, then completes the task, or has it
 * wait for the merge of its pull request. What refuses the delivery or the completion opens the review again, with the reason.
 */
export function reviewAcceptance(input: ReviewAcceptanceInput): Promise<ReviewOutcome> {
  // An operator's "cancel" cannot take back what is merged already; until then a termination leaves a review that can be accepted again.
  return CancellationScope.nonCancellable(() => accept(input));
}

async function accept(input: ReviewAcceptanceInput): Promise<ReviewOutcome> {
  const { heartbeatTimeoutMs: _heartbeatTimeoutMs, ...signed } = input;
  const begun = await records.beginAcceptance(signed);
  if (begun.status !== 'accepting') {
    return begun;
  }
  const problem = await deliver(input, begun);
  const { decisionId, taskId, attemptId } = input;
  const outcome = problem
    ? await records.returnReview({ decisionId, taskId, attemptId, problem })
    : await records.finishAcceptance({ decisionId, taskId, attemptId });
  setCurrentDetails(
    outcome.status === 'refused'
      ? `Returned: ${outcome.message}`
      : `Accepted${begun.pullRequest ? '; the pull request is to be merged' : ''}.`,
  );
  return outcome;
}

/** Brings the result where it was decided to go; returns why that is not possible. */
function deliver(input: ReviewAcceptanceInput, { merge, pullRequest }: Acceptance): Promise<Refusal | undefined> {
  if (pullRequest) {
    return propose(input, pullRequest);
  }
  return merge ? mergeInto(input, merge) : Promise.resolve(undefined);
}

async function mergeInto(
  { taskId, decisionId, heartbeatTimeoutMs }: ReviewAcceptanceInput,
  merge: AskedFor,
): Promise<Refusal | undefined> {
  setCurrentDetails(`Merges the worktree of ${taskId}.`);
  const outcome = await operateAsChild({ taskId, ...merge, heartbeatTimeoutMs }, `merge worktree of ${taskId}`);
  if (outcome === 'busy' || outcome === 'unknown') {
    const [code, message] =
      outcome === 'busy'
        ? ['WORKTREE_BUSY', 'Another operation keeps running on the worktree; accept again when it has ended.']
        : ['WORKTREE_INTERRUPTED', 'The merge was ended before its result was known; accept again, which finishes it.'];
    return { status: 'refused', code, message, details: { taskId, decisionId } };
  }
  if (outcome.status === 'done' || outcome.code === 'WORKTREE_NOTHING_TO_MERGE') {
    return undefined;
  }
  return outcome;
}

async function propose(
  { taskId, attemptId, decisionId, heartbeatTimeoutMs }: ReviewAcceptanceInput,
  pullRequest: NonNullable<Acceptance['pullRequest']>,
): Promise<Refusal | undefined> {
  setCurrentDetails(`Makes the pull request of ${taskId}.`);
  const outcome = await pullRequestAsChild(
    { taskId, ...pullRequest, heartbeatTimeoutMs },
    `make the pull request of ${taskId}`,
    () => records.requestAcceptedPullRequest({ decisionId, taskId, attemptId }),
  );
  if (outcome === 'busy' || outcome === 'unknown') {
    const [code, message] =
      outcome === 'busy'
        ? ['PULL_REQUEST_BUSY', 'Another request for the pull request is being done; accept again when it has ended.']
        : [
            'REVIEW_INTERRUPTED',
            'The pull request was ended before its result was known; accept again, which finishes it.',
          ];
    return { status: 'refused', code, message, details: { taskId, decisionId } };
  }
  return outcome ?? undefined;
}
