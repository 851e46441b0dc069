import type { EvaluatedRule, TraceInput } from '../../contracts/governance/trace';
import type { BreakerSignal } from '../../contracts/runs/admission';
import { type BudgetUse, isExhausted } from './budget';
import type { AdmissionRequest } from './request';

/**
 * The budget trace of a launch within an execution tree that has budgets: how much of each was used, and whether that prevented
 * the tree from growing. One for each attempt and outcome, however often its admission is requested.
 */
export function budgetTrace(
  { attemptId, agent, taskId, rootObjectiveId }: AdmissionRequest,
  budgets: readonly BudgetUse[],
  signals: readonly BreakerSignal[],
): TraceInput {
  const pressed = new Set(signals.flatMap(({ budget }) => (budget === undefined ? [] : [budget])));
  const blocked = budgets.some(isExhausted) || pressed.size > 0;
  const outcome = blocked ? 'blocked' : 'allowed';
  return {
    kind: 'budget-policy',
    outcome,
    title: `Budget of the execution tree ${rootObjectiveId}: ${outcome}`,
    summary: budgets.map(usedOf).join(' '),
    ...(blocked ? { remediation: 'Raise the budget in the feature settings, then resume the tree.' } : {}),
    subject: { agentId: agent, taskId, actionType: 'run.start' },
    evaluatedRules: budgets.map((use) => ruleOf(use, isExhausted(use) || pressed.has(use.budget))),
    raw: { attemptId, rootObjectiveId, budgets, signals },
    dedupeKey: `${attemptId}/${outcome}`,
  };
}

const usedOf = ({ budget, used, limit }: BudgetUse): string => `${used} of ${limit} ${budget} are used.`;

const ruleOf = (use: BudgetUse, matched: boolean): EvaluatedRule => ({
  id: use.budget,
  label: `Budget ${use.budget} of the tree`,
  type: 'budget',
  status: matched ? 'matched' : 'not-matched',
  ...(matched ? { outcome: 'blocked' as const } : {}),
  message: usedOf(use),
});
