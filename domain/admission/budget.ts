import type { BreakerSignal } from '../../contracts/runs/admission';
import type { FanOutBreaker, TreeBudget } from '../../contracts/settings/settings';
import type { RunUsage } from '../../contracts/system/telemetry';

/** One budget of an execution tree, and what its runs have used of it. */
export interface BudgetUse {
  budget: keyof TreeBudget;
  used: number;
  limit: number;
}

/** The budgets that are set; tokens are those that went in and came out, without what was read from a cache. */
export function budgetUse({ tokens, costUsd }: TreeBudget, usage: RunUsage): BudgetUse[] {
  return [
    ...(tokens === null
      ? []
      : [{ budget: 'tokens' as const, used: usage.inputTokens + usage.outputTokens, limit: tokens }]),
    ...(costUsd === null ? [] : [{ budget: 'costUsd' as const, used: usage.cost, limit: costUsd }]),
  ];
}

/** Whether the budget is used up: active runs continue, and nothing more is launched. */
export const isExhausted = ({ used, limit }: BudgetUse): boolean => used >= limit;
export const hasBudget = ({ tokens, costUsd }: TreeBudget): boolean => tokens !== null || costUsd !== null;

/**
 * Why a tree must not grow as far as its budgets go: pressure, under the same conditions as on a ceiling; and, whatever the
 * breaker is set to and however small the tree is, an exhausted budget.
 */
export function budgetSignals(
  { enabled, pressurePercent, pressureMinDescendants }: FanOutBreaker,
  { rootObjectiveId, descendants }: { rootObjectiveId: string; descendants: number },
  budgets: readonly BudgetUse[],
): BreakerSignal[] {
  const counts = enabled && descendants >= pressureMinDescendants;
  return budgets.flatMap((use): BreakerSignal[] => {
    const percent = (use.used / use.limit) * 100;
    const limit = isExhausted(use) ? 100 : pressurePercent;
    if (!isExhausted(use) && (!counts || percent < pressurePercent)) {
      return [];
    }
    const scope = { scope: 'tree' as const, scopeId: rootObjectiveId, budget: use.budget };
    return [{ signal: 'budget-pressure', current: Math.floor(percent), limit, ...scope }];
  });
}

/** Of the signals of a paused tree: the one of an exhausted budget. */
export const exhaustedBudget = (signals: readonly BreakerSignal[]): BreakerSignal | undefined =>
  signals.find(({ signal, limit }) => signal === 'budget-pressure' && limit === 100);
