import { defaultFeatures } from '../../stores/settings/settings-store';
import { budgetSignals, budgetUse, exhaustedBudget, hasBudget } from './budget';

const { admission } = defaultFeatures({ BOARD_MAX_RUNS: 1, BOARD_RUN_TIMEOUT_MS: 60_000 });
const usage = { inputTokens: 900, outputTokens: 59, cacheTokens: 5_000, cost: 1.5 };
const signals = (tokens: number, descendants: number, enabled = true) =>
  budgetSignals({ ...admission.fanOutBreaker, enabled }, { rootObjectiveId: 'o', descendants }, [
    { budget: 'tokens', used: 959, limit: tokens },
  ]);

describe('execution tree budget', () => {
  it('has no budgets unless they are set, and counts what went in and came out', () => {
    expect(budgetUse(admission.treeBudget, usage)).toEqual([]);
    expect(budgetUse({ tokens: 1_000, costUsd: 2 }, usage)).toEqual([
      { budget: 'tokens', used: 959, limit: 1_000 },
      { budget: 'costUsd', used: 1.5, limit: 2 },
    ]);
  });

  it.each([
    [null, null, false],
    [1, null, true],
    [null, 1, true],
    [1, 1, true],
  ])('of %p tokens and %p dollars is there: %p', (tokens, costUsd, expected) => {
    expect(hasBudget({ tokens, costUsd })).toBe(expected);
  });

  it('is not exhausted by a breaker signal at a limit of a hundred', () => {
    const [pressure] = signals(959, 9);
    expect(exhaustedBudget([{ ...pressure!, signal: 'descendant-limit' }])).toBeUndefined();
  });

  it('counts pressure once the tree has eight descendants and the breaker is on', () => {
    const pressure = {
      signal: 'budget-pressure',
      current: 95,
      limit: 95,
      scope: 'tree',
      scopeId: 'o',
      budget: 'tokens',
    };
    expect(signals(1_000, 8)).toEqual([pressure]);
    expect(exhaustedBudget(signals(1_000, 8))).toBeUndefined();
    expect([signals(1_000, 7), signals(1_000, 8, false), signals(1_100, 8)]).toEqual([[], [], []]);
  });

  it('stops a tree of any size once nothing is left, whatever the breaker is set to', () => {
    for (const found of [signals(959, 0), signals(959, 9, false)]) {
      expect(found).toMatchObject([{ signal: 'budget-pressure', current: 100, limit: 100 }]);
      expect(exhaustedBudget(found)).toBe(found[0]);
    }
  });
});
