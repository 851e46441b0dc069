import type { ContinuationAttempt, Goal, GoalRun } from '../../contracts/governance/goals/goal';
import type { Refusal } from '../../contracts/refusal';
import type { Continuation } from '../../contracts/runs/completion';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { settledAttempt } from '../../domain/goals/continuation';
import { continuationMessage } from '../../domain/goals/message';
import { blockedBy } from '../../domain/goals/next-step';
import { withRun } from '../../domain/goals/runs';
import { changedState, type StateChange } from '../../domain/goals/states';
import { goalSystem } from '../../domain/goals/system';
import { refusal } from '../../domain/refusal';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { cut } from '../../platform/text/cut';
import type { GoalStore } from '../../stores/governance/goal-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { continuationOf } from '../../stores/runs/launch/continuation';
import type { RoutingStore } from '../../stores/settings/routing-store';
import { type ContinuationLaunchDependencies, launchContinuation } from '../shared/continuation-launch';
import { auditContinuation } from './audit';

export interface DispatchDependencies extends ContinuationLaunchDependencies {
  goals: Pick<GoalStore, 'get' | 'change' | 'link'>;
  routing: Pick<RoutingStore, 'configuration' | 'inputs'>;
}

/**
 * Launches a planned continuation, and records what came of it. Repeated, it finds the run by its id, which was fixed when it was
 * planned; one whose goal is not active any more is not launched.
 *
 * @returns the goal afterwards; `undefined` when nothing was to be done
 */
export async function dispatchContinuation(
  deps: DispatchDependencies,
  { goalId, continuationId }: { goalId: string; continuationId: string },
): Promise<Goal | undefined> {
  const goal = await deps.goals.get(goalId);
  const attempt = goal?.continuationAttempts.find(({ id }) => id === continuationId);
  if (!goal || attempt?.state !== 'planned') {
    return goal;
  }
  const outcome = await outcomeOf(deps, goal, attempt);
  const at = deps.now().toISOString();
  const settled = await deps.goals.change(goalId, (current) => settledGoal(current, attempt, { outcome, at }), {
    at,
    due: true,
  });
  const after = settled?.continuationAttempts.find(({ id }) => id === continuationId);
  if (settled && after) {
    await auditContinuation(deps, settled, after);
  }
  return settled;
}

async function outcomeOf(deps: DispatchDependencies, goal: Goal, attempt: ContinuationAttempt): Promise<LaunchOutcome> {
  const launched = await deps.attempts.get(attempt.attemptId);
  if (goal.state !== 'active' && !launched) {
    return refusal('GOAL_NOT_ACTIVE', `The goal is ${goal.state} by now.`, { goalId: goal.id });
  }
  const source = await deps.attempts.get(attempt.sourceAttemptId);
  if (!source) {
    throw new Error(`The attempt ${attempt.sourceAttemptId} is missing from the stores.`);
  }
  const continuation = await sessionOf(deps, source, attempt);
  if (continuation instanceof AppError) {
    return refusal(continuation.code, continuation.message, continuation.details);
  }
  await deps.goals.link(attempt.attemptId, goal.id);
  const { requestedBy, kind, attemptId } = attempt;
  const outcome = await launchContinuation(deps, {
    attemptId,
    source,
    message: continuationMessage(goal, kind),
    continuation,
    actor: requestedBy ?? goal.createdBy,
    byWatcher: requestedBy === undefined,
  });
  return (
    outcome ?? refusal('LAUNCH_LOST', 'The workflow of the run ended before its launch was decided.', { attemptId })
  );
}

/** The session that is resumed; a rollover begins a new one. The refusal when it cannot be resumed after all. */
async function sessionOf(
  { routing }: DispatchDependencies,
  source: AttemptRecord,
  { kind }: ContinuationAttempt,
): Promise<Continuation | AppError | undefined> {
  if (kind === 'rollover') {
    return undefined;
  }
  return continuationOf(routing, source, 'follow-up').catch((error: unknown) => {
    if (error instanceof AppError && error.status === 409) {
      return error;
    }
    throw error;
  });
}

/** The goal with what came of its continuation: the run, or why there is none. */
function settledGoal(
  goal: Goal,
  { id, kind, attemptId, sourceAttemptId }: ContinuationAttempt,
  { outcome, at }: { outcome: LaunchOutcome; at: string },
): Goal {
  const present = goal.continuationAttempts.find((attempt) => attempt.id === id);
  if (present?.state !== 'planned') {
    return goal;
  }
  if (outcome.status !== 'refused') {
    const source = goal.continuationChain.find((run) => run.attemptId === sourceAttemptId);
    const taskId = source?.taskId ?? goal.root.taskId;
    const run: GoalRun = { taskId, attemptId, kind, parentAttemptId: sourceAttemptId, linkedAt: at };
    return withRun(settledAttempt(goal, id, { state: 'dispatched', settledAt: at }), run);
  }
  const { code, message } = outcome;
  const failed = settledAttempt(goal, id, { state: 'failed', settledAt: at, error: { code, message } });
  return goal.state === 'active'
    ? changedState(failed, refusedState(outcome, kind), { actor: goalSystem, at })
    : failed;
}

/** Refusals that wait for a person who lets it continue. */
const approvals: ReadonlySet<string> = new Set(['CONTINUATION_NEEDS_APPROVAL', 'APPROVAL_REQUIRED']);

/** Where the refusal of a continuation leads its goal: never to silence. */
function refusedState({ code, message }: Refusal, kind: ContinuationAttempt['kind']): StateChange {
  if (approvals.has(code)) {
    return compact({
      state: 'awaiting-approval' as const,
      reason: cut(`${code}: ${message}`, 4_000),
      awaiting: { code, kind },
    });
  }
  const action =
    code === 'CONTINUATION_BLOCKED'
      ? 'Read GET /api/watcher-policies; once it allows continuations, set the goal to active.'
      : 'Settle the reason, then set the goal to active.';
  return blockedBy(code, message, action).change;
}
