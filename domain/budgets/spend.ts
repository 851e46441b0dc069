import { createHash } from 'node:crypto';
import type { BudgetScope } from '../../contracts/settings/budget';

/** What was used. */
export interface Spend {
  /** Those that went in and came out, without what was read from a cache. */
  tokens: number;
  costUsd: number;
}

/** Who used it, for which task: the scopes whose budgets it counts in. */
export interface Spender {
  taskId: string;
  /** None where the board asks a model by itself. */
  agent?: string;
  project?: string;
  /** The root of the execution tree; of a launch that is not recorded yet it is not known. */
  tree?: string;
}

/** One report of use, counted once. */
export interface SpendReport extends Spend, Spender {
  attemptId: string;
  /** When the board received it. */
  at: string;
}

export interface ScopeId {
  scope: BudgetScope;
  scopeId: string;
}

/** The id of the one scope of a workspace that is the workspace itself. */
export const wholeWorkspace = 'workspace';

/** The scopes whose budgets a spender uses. */
export const scopesOfSpender = ({ taskId, agent, project, tree }: Spender): ScopeId[] => [
  { scope: 'workspace', scopeId: wholeWorkspace },
  ...(project === undefined ? [] : [{ scope: 'project' as const, scopeId: project }]),
  ...(agent === undefined ? [] : [{ scope: 'agent' as const, scopeId: agent }]),
  { scope: 'task', scopeId: taskId },
  ...(tree === undefined ? [] : [{ scope: 'tree' as const, scopeId: tree }]),
];

/** Whether the budgets of a scope begin again each month; the others are for all of its time. */
export const isMonthly = (scope: BudgetScope): boolean =>
  scope === 'workspace' || scope === 'project' || scope === 'agent';

/** Dollars are counted in billionths: what is below is noise of decimal fractions. */
export const withoutNoise = (sum: number): number => Math.round(sum * 1e9) / 1e9;

export const nothing: Spend = { tokens: 0, costUsd: 0 };

export const addSpend = (a: Spend, b: Spend): Spend => ({
  tokens: a.tokens + b.tokens,
  costUsd: withoutNoise(a.costUsd + b.costUsd),
});

/** Borders of days lie on quarters of an hour in every zone. */
export const quarterMs = 15 * 60_000;
export const dayMs = 86_400_000;

/** The UTC date of a moment. */
export const utcDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The day of a counter over all time. */
export const always = 'always';

/** One counter: what a scope has used on one day of UTC, by quarters of an hour, or in all of its time. */
export interface Counter extends Spend, ScopeId {
  /** A date, or `always`. */
  day: string;
  /** Up to which report of the journal it counts. */
  through: number;
  /** By the number of the quarter in its day. */
  quarters?: Record<string, [tokens: number, costUsd: number]>;
  /** When it is of no more use; never for one over all time. */
  expiresAt?: string;
}

/** The same for the same scope and day, in every process. */
export const counterId = ({ scope, scopeId }: ScopeId, day: string): string =>
  createHash('sha256').update(`${scope}\n${scopeId}\n${day}`).digest('hex').slice(0, 32);

/** A counter with one more report. */
export function counted<C extends Counter>(counter: C, report: SpendReport, sequence: number): C {
  const sum = { ...counter, ...addSpend(counter, report), through: sequence };
  if (counter.day === always) {
    return sum;
  }
  const quarter = String(Math.floor((Date.parse(report.at) % dayMs) / quarterMs));
  const [tokens, costUsd] = counter.quarters?.[quarter] ?? [0, 0];
  const after = addSpend({ tokens, costUsd }, report);
  return { ...sum, quarters: { ...counter.quarters, [quarter]: [after.tokens, after.costUsd] } };
}

/** What counters of days hold of a period whose borders are those of quarters of an hour. */
export function spentWithin(counters: readonly Counter[], { from, to }: { from: number; to: number }): Spend {
  return counters.reduce((sum, counter) => {
    const day = Date.parse(counter.day);
    if (day >= from && day + dayMs <= to) {
      return addSpend(sum, counter);
    }
    return Object.entries(counter.quarters ?? {})
      .filter(([quarter]) => day + Number(quarter) * quarterMs >= from && day + Number(quarter) * quarterMs < to)
      .reduce((part, [, [tokens, costUsd]]) => addSpend(part, { tokens, costUsd }), sum);
  }, nothing);
}
