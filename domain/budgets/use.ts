import type { BudgetState, ScopeBudget } from '../../contracts/governance/budget';
import type { EvaluatedRule } from '../../contracts/governance/trace';
import type { BudgetResource, BudgetScope, BudgetSettings } from '../../contracts/settings/budget';
import type { RuleReason } from '../governance/action';
import type { BudgetStatus, BudgetUse } from './budget-use';
import { monthOf, type Period } from './period';
import { isMonthly, type ScopeId, type Spend, withoutNoise } from './spend';

/** What is judged: the settings of now, and when it is. */
export interface BudgetTime {
  settings: BudgetSettings;
  at: number;
}

export const budgetResources = ['tokens', 'costUsd'] as const;

/** The resources of a kind of scope that are limited. */
export const limitedResources = ({ enabled, limits }: BudgetSettings, scope: BudgetScope): BudgetResource[] =>
  enabled ? budgetResources.filter((budget) => limits[scope][budget] !== null) : [];

/** What a scope's budget is for: the month of the board's zone, or all of its time. */
export const periodOf = (scope: BudgetScope, { settings, at }: BudgetTime): Period | undefined =>
  isMonthly(scope) ? monthOf(at, settings.timeZone) : undefined;

/** The budgets of a scope that are set, with what is used and what `holds` admitted runs have reserved. */
export function usesOf(of: ScopeId, { spend, holds }: { spend: Spend; holds: number }, time: BudgetTime): BudgetUse[] {
  const { settings } = time;
  const period = periodOf(of.scope, time);
  return limitedResources(settings, of.scope).map((budget) => {
    const limit = settings.limits[of.scope][budget] ?? Number.MAX_SAFE_INTEGER;
    const used = spend[budget];
    const reserved = withoutNoise(holds * settings.reservePerRun[budget]);
    return {
      ...of,
      budget,
      ...{ used, reserved, limit, percent: percentOf({ used, reserved, limit }) },
      status: statusOf({ used, reserved, limit }, settings),
      ...(period ? { resetsAt: new Date(period.to).toISOString() } : {}),
    };
  });
}

interface Share {
  used: number;
  reserved: number;
  limit: number;
}

const percentOf = ({ used, reserved, limit }: Share): number => Math.floor(((used + reserved) / limit) * 100);

const statusOf = ({ used, reserved, limit }: Share, { warningThreshold }: BudgetSettings): BudgetStatus => {
  const committed = withoutNoise(used + reserved);
  return committed >= limit ? 'exhausted' : committed * 100 >= warningThreshold * limit ? 'warning' : 'ok';
};

/** The budgets of a scope as they are reported, also those that are not set. */
export function reportOf(
  of: ScopeId,
  { spend, holds }: { spend: Spend; holds: number },
  time: BudgetTime,
): ScopeBudget {
  const { settings, at } = time;
  const period = periodOf(of.scope, time);
  const elapsed = period && Math.max(at - period.from, 1) / (period.to - period.from);
  const state = (budget: BudgetResource): BudgetState => {
    const limit = settings.limits[of.scope][budget];
    const used = spend[budget];
    const reserved = withoutNoise(holds * settings.reservePerRun[budget]);
    const projected = elapsed === undefined ? null : withoutNoise(used / elapsed);
    const share = limit === null ? undefined : { used, reserved, limit };
    return {
      ...{ limit, used, reserved, projected },
      remaining: share ? Math.max(0, withoutNoise(share.limit - used - reserved)) : null,
      percent: share ? percentOf(share) : null,
      status: share && settings.enabled ? statusOf(share, settings) : 'ok',
    };
  };
  const [tokens, costUsd] = [state('tokens'), state('costUsd')];
  const worse = (['exhausted', 'warning'] as const).find((status) => [tokens.status, costUsd.status].includes(status));
  return { ...of, tokens, costUsd, status: worse ?? 'ok' };
}

const words: Record<BudgetResource, string> = { tokens: 'tokens', costUsd: 'US dollars' };

const nameOf = ({ scope, scopeId }: ScopeId): string =>
  scope === 'workspace' ? 'the workspace' : `the ${scope === 'tree' ? 'execution tree' : scope} ${scopeId}`;

/** A sentence that states how much of a budget is used. */
export function sentenceOf(use: BudgetUse): string {
  const { used, reserved, limit, budget, status, resetsAt } = use;
  const state = { ok: 'is not used up', warning: 'is nearly used up', exhausted: 'is used up' }[status];
  const held = reserved > 0 ? `, and ${reserved} are reserved for runs that were admitted` : '';
  const until = resetsAt === undefined ? '' : ` until ${resetsAt}`;
  return `The budget of ${nameOf(use)} ${state}${until}: ${used} of ${limit} ${words[budget]} are used${held}.`;
}

/** What would change that. */
const remedyOf = ({ scope, budget, resetsAt }: BudgetUse): string =>
  `An administrator raises budget.limits.${scope}.${budget} with PATCH /api/settings/features${
    resetsAt === undefined ? '.' : `, or it begins again at ${resetsAt}.`
  }`;

/** What a budget decides about a launch: a used one blocks it, a nearly used one warns. */
export const budgetReasons = (uses: readonly BudgetUse[]): RuleReason[] =>
  uses.flatMap((use): RuleReason[] => {
    if (use.status === 'ok') {
      return [];
    }
    const decision = use.status === 'exhausted' ? 'block' : 'warn';
    const rule = `${use.scope}.${use.budget}`;
    return [{ source: 'budget', id: use.scopeId, rule, decision, reason: sentenceOf(use), remedy: remedyOf(use), use }];
  });

/** A budget as a trace has it. */
export const budgetRule = (use: BudgetUse): EvaluatedRule => ({
  id: use.scopeId,
  label: `${use.scope}.${use.budget}`,
  type: 'budget',
  status: use.status === 'ok' ? 'not-matched' : 'matched',
  ...(use.status === 'ok' ? {} : { outcome: use.status === 'exhausted' ? ('blocked' as const) : ('warned' as const) }),
  message: sentenceOf(use),
});
