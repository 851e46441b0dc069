import type { Refusal } from '../../contracts/refusal';
import type { AcceptedReview } from '../../contracts/tasks/review';
import type { Task } from '../../contracts/tasks/task';
import { refusal, RefusedError } from '../../domain/refusal';
import { acceptableReviewOf } from '../../domain/review/open-review';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { BoardTask } from '../../stores/board-files/types';
import type { CompletionGate } from '../../stores/board-files/wrappers/completion-gate';
import type { Stores } from '../../stores/open-stores';
import { reviewAcceptanceMessage, type Signed } from '../../workflows/message-proofs';
import type { ReviewOutcome } from '../../workflows/review-acceptance/messages';
import { conclude, type ConclusionDependencies } from './conclude';
import {
  type Decision,
  isAcceptedBy,
  isAwaitedBy,
  isDecided,
  outcomeOf,
  pullRequestOperationIdOf,
  refusing,
  unknownActor,
} from './decision';
import { type Delivery, type DeliveryDependencies, deliveryOf } from './delivery';
import { reopen } from './reopen';

export interface ReviewAcceptanceDependencies
  extends ConclusionDependencies, DeliveryDependencies, Pick<Stores, 'activeRuns'> {
  gate: Pick<CompletionGate, 'check'>;
  proofs: ProofVerifier;
}

/** An acceptance that has begun. */
export interface Acceptance extends Delivery {
  status: 'accepting';
}

export function createReviewAcceptanceActivities(deps: ReviewAcceptanceDependencies) {
  return {
    /**
     * Closes the review against other decisions and launches, if the task may be done: nothing is delivered for one that may not.
     * An acceptance that was lost in the middle is taken over, since only one execution per attempt runs.
     */
    async beginAcceptance({ proof, ...accepted }: AcceptedReview & Signed): Promise<Acceptance | ReviewOutcome> {
      await deps.proofs.require(reviewAcceptanceMessage(accepted), proof);
      const earlier = await deps.reviews.get(accepted.decisionId);
      if (earlier) {
        return outcomeOf(earlier);
      }
      return refusing(async () => {
        const { taskId } = accepted;
        const { task, location } = await mustGet(taskId);
        if (isAcceptedBy(task.review, accepted) || isAwaitedBy(task.review, accepted)) {
          return conclude(deps, accepted);
        }
        acceptableReviewOf(task, { ...accepted, location });
        await deps.gate.check(task, location);
        const delivery = await deliveryOf(deps, accepted);
        await deps.reviews.unfinished.begin(accepted);
        await close(accepted);
        return { status: 'accepting' as const, ...delivery };
      });
    },

    /**
     * Requests the pull request of an acceptance, which the workflow of the pull request makes.
     *
     * @returns the operation that is to be carried out now: another one that was requested before, or this one
     */
    async requestAcceptedPullRequest({ taskId, decisionId }: Decision): Promise<{ operationId: string }> {
      const [acceptance, worktree] = await Promise.all([
        deps.reviews.unfinished.get(decisionId),
        deps.worktrees.get(taskId),
      ]);
      const operation = await deps.pullRequests.request(taskId, {
        id: pullRequestOperationIdOf(decisionId),
        kind: 'publish',
        actor: acceptance?.accepted.actor ?? unknownActor,
        at: deps.now().toISOString(),
        begun: false,
        // A result that was accepted is no draft.
        draft: false,
        // One that any caller that changes tasks has made may have another base.
        ...compact({ targetBranch: worktree?.base.branch }),
      });
      return { operationId: operation.id };
    },

    /** Completes the task, or has it wait for its pull request; what refuses that opens the review again. */
    finishAcceptance: (decision: Decision): Promise<ReviewOutcome> =>
      refusing(
        () => conclude(deps, decision),
        (problem) => reopen(deps, decision, problem),
      ),

    /** Opens the review again, with the reason; the decision is in the log. */
    returnReview: ({ problem, ...decision }: Decision & { problem: Refusal }): Promise<Refusal> =>
      reopen(deps, decision, problem),
  };

  async function mustGet(taskId: string): Promise<BoardTask> {
    const found = await deps.board.get(taskId);
    if (!found) {
      throw new RefusedError(refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId }));
    }
    return found;
  }

  /** Shows the acceptance on the task, under its lock, while no run has it: a launch that takes it later is refused. */
  async function close(accepted: AcceptedReview): Promise<void> {
    const { taskId, attemptId, decisionId, actor, delivery, summary } = accepted;
    const decidedAt = deps.now().toISOString();
    const change = (task: Task, location: BoardTask['location']): Partial<Task> => {
      const { state: _state, problem: _problem, ...open } = acceptableReviewOf(task, { ...accepted, location });
      return isDecided(task.review, accepted)
        ? {}
        : {
            review: {
              ...open,
              ...compact({ summary }),
              state: 'accepting',
              decisionId,
              decidedBy: actor,
              decidedAt,
              delivery,
            },
          };
    };
    try {
      await deps.board.update(taskId, change, { actor });
    } catch (error) {
      if (error instanceof RefusedError) {
        await deps.reviews.unfinished.end(decisionId);
      }
      throw error;
    }
    const holder = await deps.activeRuns.holder(taskId);
    if (holder === attemptId) {
      throw new Error(`The run ${attemptId} is ending; its task is released in a moment.`);
    }
    if (holder !== undefined) {
      const problem = refusal('RUN_ACTIVE', `The run ${holder} has the task; wait for its end, or stop it first.`, {
        taskId,
        attemptId: holder,
      });
      throw new RefusedError(await reopen(deps, accepted, problem));
    }
  }
}

export type ReviewAcceptanceActivities = ReturnType<typeof createReviewAcceptanceActivities>;
