import { type BudgetQuery, budgetQuery, budgetReport } from '../../../contracts/governance/budget';
import { monthOf } from '../../../domain/budgets/period';
import { rangeOf } from '../../../domain/budgets/range';
import { dayMs, type ScopeId, wholeWorkspace } from '../../../domain/budgets/spend';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { countersRetainedDays } from '../../../stores/governance/budgets/spend-counters';
import type { ApiContext } from '../../context';

/** What is used of budgets (specification 1, `/api/metrics`). */
export function budgetRoutes(routes: Routes, { budgets }: Pick<ApiContext, 'budgets'>): void {
  routes.add(
    {
      method: 'get',
      path: '/metrics/budget',
      operationId: 'getBudget',
      summary: 'Read what is used of a budget, and list the budgets of the scopes of a kind',
      tag: 'metrics',
      permission: 'telemetry:read',
      query: budgetQuery,
      response: budgetReport,
    },
    async ({ query }) => {
      const { scope, limit, cursor } = query;
      const of = scopeOf(query);
      const page = await budgets.ledger.scopes(scope, { limit, cursor });
      const { time, own, others: scopes } = await budgets.reports(of, page.items);
      const { settings, at } = time;
      const range = counted(query, { at, timeZone: query.tz ?? settings.timeZone });
      const { from, to, timeZone } = range;
      const used = await budgets.ledger.spent(of, from === undefined ? undefined : { from, to });
      const month = monthOf(at, settings.timeZone);
      const { enabled, warningThreshold, limits } = settings;
      return page.answer({
        ...own,
        ...{ enabled, warningThreshold },
        tokenBudget: limits[of.scope].tokens,
        costBudget: limits[of.scope].costUsd,
        month: { from: iso(month.from), to: iso(month.to), timeZone: settings.timeZone },
        period: {
          name: query.period,
          ...compact({ from: from === undefined ? undefined : iso(from) }),
          ...{ to: iso(to), timeZone, used },
        },
        scopes,
      });
    },
  );
}

function scopeOf({ project, agent }: BudgetQuery): ScopeId {
  if (project !== undefined) {
    return { scope: 'project', scopeId: project };
  }
  return agent === undefined ? { scope: 'workspace', scopeId: wholeWorkspace } : { scope: 'agent', scopeId: agent };
}

/** The period of a query. @throws AppError 400 for one that is empty, or of which nothing is retained any more */
function counted(query: BudgetQuery, { at, timeZone }: { at: number; timeZone: string }) {
  const range = rangeOf({ ...query, timeZone }, at);
  const { from, to } = range;
  if (from !== undefined && from >= to) {
    throw validationError([{ path: 'to', message: 'must be after from' }]);
  }
  if (from !== undefined && from < at - countersRetainedDays * dayMs) {
    const message = `must not be earlier than ${countersRetainedDays} days ago, or the period all`;
    throw validationError([{ path: 'from', message }]);
  }
  return { ...range, timeZone };
}

const iso = (at: number): string => new Date(at).toISOString();
