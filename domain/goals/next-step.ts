import type { ContinuationAttempt, Goal, GoalBlocker } from '../../contracts/governance/goals/goal';
import type { RunRecovery } from '../../contracts/runs/recovery';
import { cut } from '../../platform/text/cut';
import { needsPerson } from './evidence';
import { missingRequirements, type StateChange } from './states';
import { conversationTokens, reachedBudgets } from './usage';

/** How the current run of a goal has ended. */
export interface LastRun {
  status: string;
  summary: string;
  /** Whether a person stopped it. */
  stopped: boolean;
  /** Whether its conversation can be continued. */
  resumable: boolean;
  recovery: Pick<RunRecovery, 'state' | 'failureClass' | 'operatorHandoff'> | undefined;
}

/** What follows of a goal now. */
export type NextStep =
  | { step: 'none' }
  /** A recovery is about to launch the next run. */
  | { step: 'wait' }
  | { step: 'change'; change: StateChange }
  | { step: 'continue'; kind: ContinuationAttempt['kind'] };

/**
 * What follows once runs of a goal have ended. Evidence for everything completes it, whatever its mode; a budget that is reached
 * ends its runs; and only an automatic goal is continued, as far as its own limits go. The watcher policy is asked after this.
 */
export function nextStep(goal: Goal, last: LastRun | undefined): NextStep {
  const running = goal.continuationChain.some(({ endedAt }) => endedAt === undefined);
  const planned = goal.continuationAttempts.some(({ state }) => state === 'planned');
  if (goal.state !== 'active' || running || planned) {
    return { step: 'none' };
  }
  const missing = missingRequirements(goal);
  if (missing.length === 0) {
    return changeTo('complete', 'Every required requirement has evidence.');
  }
  const reached = reachedBudgets(goal);
  if (reached.length > 0) {
    return changeTo('budget-limited', `The budget is used: ${reached.join(', ')}.`);
  }
  if (goal.continuation.mode === 'manual' || !last) {
    return { step: 'none' };
  }
  if (last.recovery && isUnderWay(last.recovery)) {
    return { step: 'wait' };
  }
  return afterRun(goal, last, missing);
}

const underWay: ReadonlySet<string> = new Set(['scheduled', 'launching', 'launched']);

/** A recovery that was launched is under way until its run is in the execution tree. */
const isUnderWay = ({ state }: Pick<RunRecovery, 'state'>): boolean => underWay.has(state);

function afterRun(goal: Goal, last: LastRun, missing: readonly string[]): NextStep {
  const handoff = last.recovery?.operatorHandoff;
  if (last.recovery?.failureClass === 'rate-limit') {
    return changeTo('usage-limited', `The provider refuses more use: ${last.summary}`);
  }
  if (last.stopped) {
    return changeTo('paused', 'The run was stopped by a person.');
  }
  if (handoff) {
    return blockedBy('RUN_NEEDS_REVIEW', handoff.reason, handoff.nextSafeAction);
  }
  if (last.status === 'blocked') {
    return blockedBy('RUN_BLOCKED', last.summary, 'Settle what blocks the run, then set the goal to active.');
  }
  if (last.status === 'failed' && !last.resumable) {
    return blockedBy(
      'RUN_FAILED',
      last.summary,
      'Read why the run failed, then set the goal to active or roll it over.',
    );
  }
  const open = goal.completionRequirements.filter(({ id }) => missing.includes(id));
  const kind = kindOf(goal, last);
  if (last.status === 'success' && open.every(needsPerson)) {
    const reason = `Evidence of a person is missing: ${missing.join(', ')}.`;
    return {
      step: 'change',
      change: { state: 'awaiting-approval', reason, awaiting: { code: 'EVIDENCE_REQUIRED', kind } },
    };
  }
  return withinLimits(goal, kind);
}

const kindOf = (goal: Goal, { resumable }: LastRun): ContinuationAttempt['kind'] => {
  const { compactAfterTokens } = goal.continuation;
  const full = compactAfterTokens !== undefined && conversationTokens(goal) >= compactAfterTokens;
  return resumable && !full ? 'resume' : 'rollover';
};

function withinLimits(goal: Goal, kind: ContinuationAttempt['kind']): NextStep {
  const { maxTurns, requireApprovalForRollover } = goal.continuation;
  if (turnsOf(goal) >= maxTurns) {
    return blockedBy(
      'GOAL_TURNS_USED',
      `All ${maxTurns} automatic runs were used.`,
      'Continue with a run that you link.',
    );
  }
  if (kind === 'rollover' && !mayRollOver(goal)) {
    const summary = `All ${goal.continuation.maxRollovers} fresh conversations were used.`;
    return blockedBy('GOAL_ROLLOVERS_USED', summary, 'Continue with a run that you link.');
  }
  if (kind === 'rollover' && requireApprovalForRollover) {
    const reason = 'A fresh conversation needs an approval: set the goal to active, or roll it over.';
    return {
      step: 'change',
      change: { state: 'awaiting-approval', reason, awaiting: { code: 'ROLLOVER_NEEDS_APPROVAL', kind } },
    };
  }
  return { step: 'continue', kind };
}

const dispatched = ({ continuationAttempts }: Goal) =>
  continuationAttempts.filter(({ state }) => state === 'dispatched');

/** How many runs began without a person. */
export const turnsOf = (goal: Goal): number =>
  dispatched(goal).filter(({ requestedBy }) => requestedBy === undefined).length;

/** Whether another fresh conversation is within the limit of the goal. */
export const mayRollOver = (goal: Goal): boolean =>
  dispatched(goal).filter(({ kind }) => kind === 'rollover').length < goal.continuation.maxRollovers;

const changeTo = (state: StateChange['state'], reason: string): NextStep => ({
  step: 'change',
  change: { state, reason: cut(reason, 4_000) },
});

/** A goal that is blocked by what came of a run. */
export const blockedBy = (code: string, summary: string, nextSafeAction: string): NextStep & { step: 'change' } => {
  const blocker: Omit<GoalBlocker, 'id' | 'recordedAt'> = {
    code,
    summary: cut(summary, 2_000) || code,
    attempts: 1,
    nextSafeAction: cut(nextSafeAction, 2_000),
    requiredAuthority: 'admin:manage',
  };
  return {
    step: 'change',
    change: { state: 'blocked', reason: cut(`${code}: ${blocker.summary}`, 4_000), blocker },
  };
};
