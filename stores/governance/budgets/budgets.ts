import type { ScopeBudget } from '../../../contracts/governance/budget';
import type { EvaluatedRule } from '../../../contracts/governance/trace';
import type { BudgetSettings } from '../../../contracts/settings/budget';
import type { BudgetUse } from '../../../domain/budgets/budget-use';
import { type ScopeId, scopesOfSpender, type Spender } from '../../../domain/budgets/spend';
import {
  budgetReasons,
  budgetRule,
  type BudgetTime,
  limitedResources,
  periodOf,
  reportOf,
  usesOf,
} from '../../../domain/budgets/use';
import type { AskedAction, RuleReason } from '../../../domain/governance/action';
import { compact } from '../../../platform/json/compact';
import type { Database } from '../../port/collection';
import { type BudgetHolds, createBudgetHolds, holdsOf, type SeenHolds } from './budget-holds';
import { createSpendLedger, type SpendLedger } from './spend-ledger';

export interface BudgetSources {
  settings: { current(): Promise<{ budget: BudgetSettings }> };
  /** Whether a run is over, so that nothing needs to be reserved for it. */
  isOver: (attemptId: string) => Promise<boolean>;
  now?: () => Date;
}

/** What budgets make of an action. */
interface BudgetFindings {
  reasons: RuleReason[];
  evaluatedRules: EvaluatedRule[];
}

const noFindings: BudgetFindings = { reasons: [], evaluatedRules: [] };

/** The budgets of the board: what is used of them, what is reserved, and what they decide about a launch. */
export async function openBudgets(db: Database, sources: BudgetSources) {
  const [ledger, holds] = await Promise.all([createSpendLedger(db), createBudgetHolds(db)]);
  return createBudgets({ ledger, holds }, sources);
}

function createBudgets(
  { ledger, holds }: { ledger: SpendLedger; holds: BudgetHolds },
  { settings, isOver, now = () => new Date() }: BudgetSources,
) {
  const timeOfNow = async (): Promise<BudgetTime> => ({
    settings: (await settings.current()).budget,
    at: now().getTime(),
  });

  /** The budgets of scopes that are set. */
  async function usesIn(scopes: readonly ScopeId[], time: BudgetTime, countHolds: (of: ScopeId) => number) {
    const limited = scopes.filter(({ scope }) => limitedResources(time.settings, scope).length > 0);
    if (limited.length === 0) {
      return [];
    }
    const spends = await ledger.spentBy(limited.map((of) => ({ of, period: periodOf(of.scope, time) })));
    return limited.flatMap((of, index) => {
      const spend = spends[index];
      return spend ? usesOf(of, { spend, holds: countHolds(of) }, time) : [];
    });
  }

  /** Without those for runs that are over, whose release was lost with a process. */
  async function withoutEnded(seen: SeenHolds): Promise<SeenHolds> {
    const ids = Object.keys(seen.runs);
    const over = await Promise.all(ids.map(isOver));
    const ended = ids.filter((_id, index) => over[index]);
    if (ended.length === 0) {
      return seen;
    }
    await holds.release(...ended);
    return holds.read();
  }

  const isBlocked = (uses: readonly BudgetUse[]): boolean => uses.some(({ status }) => status === 'exhausted');
  const isReserved = (uses: readonly BudgetUse[]): boolean => uses.some(({ reserved }) => reserved > 0);

  /** The budgets of a launch; with `hold` its part of them is reserved in the same step, unless one is exhausted. */
  async function usesOfLaunch(spender: Spender, time: BudgetTime, hold: string | undefined): Promise<BudgetUse[]> {
    const scopes = scopesOfSpender(spender);
    const judge = (seen: SeenHolds) => usesIn(scopes, time, (of) => holdsOf(seen, of, hold));
    for (;;) {
      const first = await holds.read();
      const before = await judge(first);
      const seen = isBlocked(before) && isReserved(before) ? await withoutEnded(first) : first;
      const uses = seen === first ? before : await judge(seen);
      if (hold === undefined || uses.length === 0 || isBlocked(uses) || seen.runs[hold]) {
        return uses;
      }
      if (await holds.add(seen, hold, spender)) {
        return uses;
      }
    }
  }

  return {
    ledger,

    /** What budgets make of an action: those of a launch, or of questions to models, are all that limit what it would spend. */
    async findings(
      { action, taskId, agent, project, tree }: AskedAction,
      hold: string | undefined,
    ): Promise<BudgetFindings> {
      const time = await timeOfNow();
      const isLaunch = action === 'launch' && agent !== undefined;
      if ((!isLaunch && action !== 'spend') || taskId === undefined || !time.settings.enabled) {
        return noFindings;
      }
      // What the board asks models for is no run of the agent that has it ask.
      const spender = { taskId, ...compact({ agent: isLaunch ? agent : undefined, project, tree }) };
      if (scopesOfSpender(spender).every(({ scope }) => limitedResources(time.settings, scope).length === 0)) {
        return noFindings;
      }
      const uses = await usesOfLaunch(spender, time, hold);
      return { reasons: budgetReasons(uses), evaluatedRules: uses.map(budgetRule) };
    },

    /** What is used of the budgets of a run that is at work; what is reserved for others does not limit it. */
    usesOfRun: async (spender: Spender): Promise<BudgetUse[]> =>
      usesIn(scopesOfSpender(spender), await timeOfNow(), () => 0),

    /** The budgets of a scope and of others now, and how much of them is used; also those that are not set. */
    async reports(of: ScopeId, others: readonly ScopeId[]) {
      const time = await timeOfNow();
      const seen = await holds.read();
      const report = async (each: ScopeId): Promise<ScopeBudget> => {
        const spend = await ledger.spent(each, periodOf(each.scope, time));
        return reportOf(each, { spend, holds: holdsOf(seen, each) }, time);
      };
      return { time, own: await report(of), others: await Promise.all(others.map(report)) };
    },

    /** Releases what is reserved for a run that has ended, or that was refused. */
    release: (attemptId: string): Promise<void> => holds.release(attemptId),
  };
}

export type Budgets = Awaited<ReturnType<typeof openBudgets>>;
