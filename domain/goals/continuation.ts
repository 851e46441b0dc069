import type { ContinuationAttempt, Goal } from '../../contracts/governance/goals/goal';
import { textDigest } from '../../platform/json/digest';

/** The n-th continuation of a goal and its run: the same however often it is planned, so that it is launched once. */
function idsOf(goalId: string, number: number): Pick<ContinuationAttempt, 'id' | 'attemptId'> {
  const digits = textDigest(`${goalId}\n${number}`).slice(-24);
  return { id: `continuation_${digits.slice(0, 12)}`, attemptId: `attempt_${digits.slice(12)}` };
}

/** The goal with a continuation of its current run that is to be launched. */
export function planned(
  goal: Goal,
  { kind, requestedBy, at }: { kind: ContinuationAttempt['kind']; requestedBy?: string | undefined; at: string },
): Goal {
  const sourceAttemptId = goal.currentRun?.attemptId;
  if (sourceAttemptId === undefined) {
    throw new Error(`The goal ${goal.id} has no run that could be continued.`);
  }
  const attempt: ContinuationAttempt = {
    ...idsOf(goal.id, goal.continuationAttempts.length + 1),
    kind,
    state: 'planned',
    sourceAttemptId,
    ...(requestedBy === undefined ? {} : { requestedBy }),
    plannedAt: at,
  };
  return { ...goal, awaiting: null, continuationAttempts: [...goal.continuationAttempts, attempt] };
}

export const plannedAttempt = ({ continuationAttempts }: Pick<Goal, 'continuationAttempts'>) =>
  continuationAttempts.find(({ state }) => state === 'planned');

/** The goal with one of its continuations dispatched or failed. */
export const settledAttempt = (
  goal: Goal,
  id: string,
  outcome: Pick<ContinuationAttempt, 'state' | 'error' | 'settledAt'>,
): Goal => ({
  ...goal,
  continuationAttempts: goal.continuationAttempts.map((attempt) =>
    attempt.id === id ? { ...attempt, ...outcome } : attempt,
  ),
});
