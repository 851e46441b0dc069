import type { Refusal } from '../../contracts/refusal';
import type { TaskReview } from '../../contracts/tasks/review';
import type { Task } from '../../contracts/tasks/task';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import type { Board } from '../../stores/board-files/types';
import { type Decision, type DecisionDependencies, isDecided, recordDecision, unknownActor } from './decision';

export interface ReopenDependencies extends DecisionDependencies {
  board: Pick<Board, 'update'>;
}

/** A review that can be decided again, with the reason why the last decision came to nothing. */
export const reopened = (review: TaskReview, { code, message }: Pick<Refusal, 'code' | 'message'>, at: Date) => {
  const { attemptId, requestedAt } = review;
  const problem = { code, message, at: at.toISOString() };
  return { state: 'pending' as const, ...compact({ attemptId, requestedAt }), problem };
};

/** Opens the review again, with the reason; the decision is in the log. */
export async function reopen(deps: ReopenDependencies, decision: Decision, problem: Refusal): Promise<Refusal> {
  const { code, message } = problem;
  let decided: TaskReview | undefined;
  const change = ({ review }: Task): Partial<Task> => {
    if (!review || !isDecided(review, decision)) {
      return {};
    }
    decided = review;
    return { review: reopened(review, problem, deps.now()) };
  };
  try {
    await deps.board.update(decision.taskId, change, { actor: unknownActor });
  } catch (error) {
    // A task that is gone or unreadable has no review to open; the log has the decision.
    if (!(error instanceof AppError) || error.status === 503) {
      throw error;
    }
  }
  await recordDecision(deps, { ...decision, review: decided }, { outcome: 'returned', problem: { code, message } });
  await deps.reviews.unfinished.end(decision.decisionId);
  return problem;
}
