import type { AcceptedReview } from '../../contracts/tasks/review';
import { refusal, RefusedError } from '../../domain/refusal';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { compact } from '../../platform/json/compact';
import type { Stores } from '../../stores/open-stores';
import { operateMessage } from '../../workflows/message-proofs';
import type { AskedFor } from '../../workflows/worktree/messages';
import { operationIdOf, pullRequestOperationIdOf } from './decision';

export interface DeliveryDependencies extends Pick<Stores, 'attempts' | 'worktrees'> {
  messageProofs: Pick<MessageProofs, 'sign'>;
}

/** The operation that delivers an accepted result, signed; neither where there is nothing to deliver. */
export interface Delivery {
  merge?: AskedFor;
  /** What is not committed is committed first; what is pushed and requested is in the stores under the id. */
  pullRequest?: { operationId: string; commit: AskedFor };
}

/**
 * The operation that brings the worktree of the attempt to its base, under an id of this decision.
 *
 * @throws RefusedError `REVIEW_WITHOUT_WORKTREE` when it is gone, or the attempt had none for a pull request to be made of
 */
export async function deliveryOf(deps: DeliveryDependencies, accepted: AcceptedReview): Promise<Delivery> {
  const { attemptId, decisionId, delivery, expectedHead, anyBranch } = accepted;
  const workspace = (await deps.attempts.get(attemptId))?.taskEnvelope?.workspace;
  if (delivery === 'none' || (delivery === 'merge' && !workspace)) {
    return {};
  }
  await assertWorktree(deps, accepted);
  const head = compact({ expectedHead });
  return delivery === 'merge'
    ? { merge: signed(deps, accepted, { kind: 'merge', commit: true, ...head, ...compact({ anyBranch }) }) }
    : {
        pullRequest: {
          operationId: pullRequestOperationIdOf(decisionId),
          commit: signed(deps, accepted, { kind: 'commit', ...head }),
        },
      };
}

async function assertWorktree(
  { worktrees }: Pick<DeliveryDependencies, 'worktrees'>,
  { taskId, delivery }: AcceptedReview,
): Promise<void> {
  const worktree = await worktrees.get(taskId);
  if (worktree && worktree.state !== 'removed' && worktree.state !== 'failed') {
    return;
  }
  const state = worktree?.state ?? null;
  const what = delivery === 'merge' ? 'merged' : 'proposed';
  const message =
    `The worktree of the task is ${state ?? 'gone'}: nothing of it can be ${what}. ` +
    'Accept with {"delivery": "none"} to complete the task without it.';
  throw new RefusedError(refusal('REVIEW_WITHOUT_WORKTREE', message, { taskId, worktree: state }));
}

function signed(
  { messageProofs }: DeliveryDependencies,
  { taskId, decisionId, actor }: AcceptedReview,
  request: AskedFor['request'],
): AskedFor {
  const operation = { request, actor, operationId: operationIdOf(decisionId) };
  return { ...operation, proof: messageProofs.sign(operateMessage(taskId, operation), startProofMs) };
}
