import type { Goal, GoalContinuation } from '../../contracts/governance/goals/goal';
import { aStoredGoal } from '../../test/support/factories/goal';
import { planned, settledAttempt } from './continuation';
import { type LastRun, nextStep } from './next-step';
import { withEnd, withRun } from './runs';
import { noGoalUsage } from './usage';

const at = '2026-01-01T00:00:00.000Z';
const automatic = (fields: Partial<GoalContinuation> = {}): GoalContinuation => ({
  mode: 'automatic',
  maxTurns: 2,
  maxRollovers: 1,
  requireApprovalForRollover: false,
  ...fields,
});
const partial: LastRun = {
  status: 'partial',
  summary: 'Half of it',
  stopped: false,
  resumable: true,
  recovery: undefined,
};

/** A goal with one ended run, which used some tokens. */
function aRunGoal(fields: Partial<Goal> = {}, totalTokens = 10): Goal {
  const run = {
    taskId: 'task_20260101_goal00',
    attemptId: 'attempt_aaaaaaaaaaaa',
    kind: 'linked' as const,
    linkedAt: at,
  };
  const begun = withRun(aStoredGoal({ continuation: automatic(), ...fields }), run);
  return withEnd(begun, { ...run, status: 'partial', endedAt: at }, { ...noGoalUsage, totalTokens });
}

/** The goal after another run of the kind. */
function continued(goal: Goal, kind: 'resume' | 'rollover'): Goal {
  const asked = planned(goal, { kind, at });
  const { id, attemptId } = asked.continuationAttempts.at(-1)!;
  const run = { taskId: 'task_20260101_goal00', attemptId, kind, linkedAt: at };
  const begun = withRun(settledAttempt(asked, id, { state: 'dispatched', settledAt: at }), run);
  return withEnd(begun, { ...run, status: 'partial', endedAt: at }, { ...noGoalUsage, totalTokens: 10 });
}

const outcome = (goal: Goal, last: Partial<LastRun> = {}): string => {
  const next = nextStep(goal, { ...partial, ...last });
  switch (next.step) {
    case 'change':
      return [next.change.state, next.change.blocker?.code ?? next.change.awaiting?.code].filter(Boolean).join(' ');
    case 'continue':
      return next.kind;
    default:
      return next.step;
  }
};

const evidence = { requirementId: 'tests', evidenceId: 'x', summary: 'ok', verifier: 'user:ada', verifiedAt: at };
const byPerson = { id: 'signed', description: 'Signed', required: true, verificationKind: 'operator' as const };

describe('what follows of a goal', () => {
  it.each<[string, Goal, Partial<LastRun>]>([
    ['resume', aRunGoal(), {}],
    ['resume', aRunGoal(), { status: 'success' }],
    ['resume', aRunGoal(), { status: 'failed' }],
    ['rollover', aRunGoal(), { resumable: false }],
    ['rollover', aRunGoal({ continuation: automatic({ compactAfterTokens: 10 }) }), {}],
    ['resume', aRunGoal({ continuation: automatic({ compactAfterTokens: 11 }) }), {}],
    ['none', aRunGoal({ continuation: automatic({ mode: 'manual' }) }), {}],
    ['none', aRunGoal({ state: 'paused' }), {}],
    ['none', planned(aRunGoal(), { kind: 'resume', at }), {}],
    ['complete', aRunGoal({ completionEvidence: [evidence] }), {}],
    ['complete', aRunGoal({ completionEvidence: [evidence], continuation: automatic({ mode: 'manual' }) }), {}],
    ['budget-limited', aRunGoal({ budgets: { totalTokens: 10 } }), {}],
    ['budget-limited', aRunGoal({ budgets: { totalTokens: 10 }, continuation: automatic({ mode: 'manual' }) }), {}],
    ['resume', aRunGoal({ budgets: { totalTokens: 11 } }), {}],
    ['paused', aRunGoal(), { stopped: true }],
    ['blocked RUN_BLOCKED', aRunGoal(), { status: 'blocked' }],
    ['blocked RUN_FAILED', aRunGoal(), { status: 'failed', resumable: false }],
    ['wait', aRunGoal(), { recovery: { state: 'scheduled', failureClass: 'timeout' } }],
    ['wait', aRunGoal(), { recovery: { state: 'launched', failureClass: 'rate-limit' } }],
    ['usage-limited', aRunGoal(), { status: 'failed', recovery: { state: 'exhausted', failureClass: 'rate-limit' } }],
    [
      'blocked RUN_NEEDS_REVIEW',
      aRunGoal(),
      {
        recovery: {
          state: 'approval-required',
          failureClass: 'partial-side-effect',
          operatorHandoff: { reason: 'Half an edit', sideEffects: [], nextSafeAction: 'Look at it' },
        },
      },
    ],
    ['awaiting-approval EVIDENCE_REQUIRED', aRunGoal({ completionRequirements: [byPerson] }), { status: 'success' }],
    ['resume', aRunGoal({ completionRequirements: [byPerson] }), { status: 'partial' }],
    ['blocked GOAL_TURNS_USED', aRunGoal({ continuation: automatic({ maxTurns: 0 }) }), {}],
    ['blocked GOAL_TURNS_USED', continued(continued(aRunGoal(), 'resume'), 'rollover'), {}],
    ['blocked GOAL_ROLLOVERS_USED', continued(aRunGoal(), 'rollover'), { resumable: false }],
    [
      'awaiting-approval ROLLOVER_NEEDS_APPROVAL',
      aRunGoal({ continuation: automatic({ requireApprovalForRollover: true }) }),
      { resumable: false },
    ],
  ])('is %s', (expected, goal, last) => {
    expect(outcome(goal, last)).toBe(expected);
  });

  it('is nothing while a run is under way, or before there is one', () => {
    const running = {
      taskId: 'task_20260101_goal00',
      attemptId: 'attempt_bbbbbbbbbbbb',
      kind: 'child' as const,
      linkedAt: at,
    };
    expect(outcome(withRun(aRunGoal(), running))).toBe('none');
    expect(nextStep(aStoredGoal({ continuation: automatic() }), undefined)).toEqual({ step: 'none' });
  });

  it('is nothing new however often a run is counted', () => {
    const goal = aRunGoal();
    const run = { attemptId: 'attempt_aaaaaaaaaaaa', status: 'partial', endedAt: at };
    expect(withEnd(goal, run, { ...noGoalUsage, totalTokens: 10 })).toBe(goal);
    expect(goal.usage.totalTokens).toBe(10);
  });

  it('has ids for a continuation that do not depend on when it is planned', () => {
    const [first, again] = [at, '2026-02-02T00:00:00.000Z'].map((time) =>
      planned(aRunGoal(), { kind: 'resume', at: time }),
    );
    expect(first?.continuationAttempts[0]?.attemptId).toMatch(/^attempt_[0-9a-f]{12}$/);
    expect(again?.continuationAttempts[0]?.attemptId).toBe(first?.continuationAttempts[0]?.attemptId);
  });
});
