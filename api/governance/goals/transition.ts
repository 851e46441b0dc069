import type { GoalTransitionRequest } from '../../../contracts/governance/goals/changes';
import type { Goal } from '../../../contracts/governance/goals/goal';
import { planned, plannedAttempt } from '../../../domain/goals/continuation';
import { withEvidence } from '../../../domain/goals/evidence';
import { goalLimits } from '../../../domain/goals/limits';
import { mayRollOver } from '../../../domain/goals/next-step';
import { changedState, isTerminal, mayChange, missingRequirements } from '../../../domain/goals/states';
import { goalSystem } from '../../../domain/goals/system';
import { reachedBudgets } from '../../../domain/goals/usage';
import { AppError, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';

const resourceOf = (goal: Goal) => ({ goalId: goal.id, resourceType: 'goal', resourceId: goal.id, state: goal.state });

/** @throws AppError 409 when nothing changes the state any more */
export function assertOpen(goal: Goal): void {
  if (isTerminal(goal.state)) {
    throw conflict(
      `The goal is ${goal.state}, which is final.`,
      { ...resourceOf(goal), current: goal },
      'GOAL_TERMINAL',
    );
  }
}

/** @throws AppError 409 when a budget of the goal is used up */
export function assertWithinBudgets(goal: Goal): void {
  const budgets = reachedBudgets(goal);
  if (budgets.length > 0) {
    const message = `The budget of the goal is used: ${budgets.join(', ')}.`;
    throw conflict(message, { ...resourceOf(goal), budgets }, 'GOAL_BUDGET_REACHED');
  }
}

/**
 * The goal in the state that a caller asks for, with the evidence that comes with it. Setting a goal to active that awaits an
 * approval approves what it waits for, which is launched in the name of the caller.
 *
 * @throws AppError 400, 409
 */
export function transitioned(
  goal: Goal,
  { state, reason, blocker, completionEvidence = [] }: Omit<GoalTransitionRequest, 'expectedRevision'>,
  by: { actor: string; at: string },
): Goal {
  assertOpen(goal);
  if (!mayChange(goal.state, state)) {
    throw conflict(`The goal is ${state} already.`, { ...resourceOf(goal), current: goal });
  }
  assertRoom(goal, { state, evidence: completionEvidence.length });
  const unknown = completionEvidence.flatMap(({ requirementId }, index) =>
    goal.completionRequirements.some(({ id }) => id === requirementId)
      ? []
      : [{ path: `completionEvidence.${index}.requirementId`, message: 'is no requirement of the goal' }],
  );
  if (unknown.length > 0) {
    throw validationError(unknown);
  }
  const proven = withEvidence(goal, completionEvidence, { verifier: by.actor, at: by.at });
  if (state === 'complete') {
    assertProven(proven);
  }
  if (state === 'active') {
    assertWithinBudgets(goal);
  }
  const changed = changedState(proven, compact({ state, reason, blocker }), by);
  return state === 'active' ? approved(goal, changed, by) : changed;
}

/** Plans what a goal waited for; a rule of another page has approvals of its own, and is asked again. */
function approved({ awaiting }: Goal, changed: Goal, { actor, at }: { actor: string; at: string }): Goal {
  const isOpen = missingRequirements(changed).length > 0 && changed.currentRun?.endedAt !== undefined;
  if (!awaiting || awaiting.code === 'APPROVAL_REQUIRED' || !isOpen || plannedAttempt(changed)) {
    return changed;
  }
  const { kind } = awaiting;
  if (kind === 'rollover') {
    assertMayRollOver(changed);
  }
  return planned(changed, { kind, requestedBy: actor, at });
}

/** @throws AppError 409 when every fresh conversation was used */
export function assertMayRollOver(goal: Goal): void {
  if (!mayRollOver(goal)) {
    const message = `All ${goal.continuation.maxRollovers} fresh conversations of the goal were used.`;
    throw conflict(message, resourceOf(goal), 'GOAL_NOT_CONTINUABLE');
  }
}

/** @throws AppError 400 with the requirements that no evidence is for */
function assertProven(goal: Goal): void {
  const missingRequirementIds = missingRequirements(goal);
  if (missingRequirementIds.length > 0) {
    const issues = [{ path: 'completionEvidence', message: `is missing for ${missingRequirementIds.join(', ')}` }];
    throw new AppError('VALIDATION_ERROR', {
      status: 400,
      message: 'A goal is complete once every required requirement has evidence.',
      details: { issues, missingRequirementIds },
    });
  }
}

/** @throws AppError 409 when the goal has no room for another change; one that ends it is always possible */
function assertRoom(goal: Goal, { state, evidence }: { state: Goal['state']; evidence: number }): void {
  const byCallers = goal.transitions.filter(({ actor }) => actor !== goalSystem).length;
  const isFull = byCallers >= goalLimits.transitions && !isTerminal(state);
  if (isFull || goal.completionEvidence.length + evidence > goalLimits.evidence) {
    const message = 'The goal has no room for another change: end it, and create another one.';
    throw conflict(message, { ...resourceOf(goal), limits: goalLimits }, 'GOAL_FULL');
  }
}

/**
 * The goal with a fresh conversation planned, which a caller requests.
 *
 * @throws AppError 409
 */
export function rolledOver(goal: Goal, { actor, at }: { actor: string; at: string }): Goal {
  assertOpen(goal);
  assertWithinBudgets(goal);
  assertMayRollOver(goal);
  const run = goal.currentRun;
  const problem = !['active', 'awaiting-approval', 'blocked'].includes(goal.state)
    ? `The goal is ${goal.state}: set it to active first.`
    : run === null
      ? 'The goal has no run that could be continued: start one, and link it.'
      : goal.continuationChain.some(({ endedAt }) => endedAt === undefined)
        ? 'A run of the goal is under way: wait for its end, or stop it.'
        : plannedAttempt(goal)
          ? 'A continuation of the goal is being launched already.'
          : undefined;
  if (problem !== undefined) {
    throw conflict(problem, { ...resourceOf(goal), current: goal }, 'GOAL_NOT_CONTINUABLE');
  }
  const active =
    goal.state === 'active'
      ? goal
      : changedState(goal, { state: 'active', reason: `${actor} rolled it over.` }, { actor, at });
  return planned(active, { kind: 'rollover', requestedBy: actor, at });
}
