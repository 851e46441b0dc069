import type { Goal, GoalBudgets, GoalUsage } from '../../contracts/governance/goals/goal';

export const noGoalUsage: GoalUsage = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  toolCalls: 0,
  runtimeSeconds: 0,
  retries: 0,
  fanOut: 0,
};

/** The amounts, in the order in which they are named. */
export const goalAmountNames = Object.keys(noGoalUsage) as (keyof GoalUsage)[];

/** Sums of decimal fractions: what is below a billionth is noise. */
const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

export const addGoalUsage = (a: GoalUsage, b: GoalUsage): GoalUsage => {
  const sum = { ...a };
  for (const name of goalAmountNames) {
    sum[name] = exact(a[name] + b[name]);
  }
  return sum;
};

/** The budgets that are used up, as sentences; none while all have something left. */
export const reachedBudgets = ({ usage, budgets }: { usage: GoalUsage; budgets: GoalBudgets }): string[] =>
  goalAmountNames.flatMap((name) => {
    const most = budgets[name];
    return most !== undefined && usage[name] >= most ? [`${name} ${usage[name]} of ${most}`] : [];
  });

/** The tokens of the present conversation: of the runs since the last fresh one. */
export function conversationTokens({ continuationChain, usageEvents }: Goal): number {
  const begin = continuationChain.findLastIndex(({ kind }) => kind === 'rollover' || kind === 'linked');
  const ids = new Set(continuationChain.slice(Math.max(0, begin)).map(({ attemptId }) => attemptId));
  return usageEvents.reduce((sum, { attemptId, totalTokens }) => (ids.has(attemptId) ? sum + totalTokens : sum), 0);
}
