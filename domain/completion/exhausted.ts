import type { BudgetUse } from '../budgets/budget-use';
import { sentenceOf } from '../budgets/use';
import type { TerminalClaim } from './claim';
import { preserved, type Unclaimed } from './unclaimed';

/**
 * The claim of a run whose agent was ended since a budget was used up: its task is blocked, and what it did is retained as that of
 * any blocked run.
 *
 * @param claim what the agent had to show by then
 */
export function exhaustedClaim(
  { claim, reclaimed }: Pick<Unclaimed, 'reclaimed'> & { claim?: TerminalClaim },
  use: BudgetUse,
): TerminalClaim {
  const summary = sentenceOf(use);
  const claims = claim?.claims ?? {};
  return {
    terminalSource: 'process',
    status: 'blocked',
    summary,
    claims: {
      ...claims,
      blockers: [{ code: 'BUDGET_EXHAUSTED', summary, retryable: false }, ...(claims.blockers ?? [])].slice(0, 64),
    },
    harness: { ended: 'stopped', ...claim?.harness, ...preserved(reclaimed ? { reclaimed } : {}) },
  };
}
