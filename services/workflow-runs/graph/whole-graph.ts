import { compact } from '../../../platform/json/compact';
import type { Attributes } from './dot';
import { type Budget, type Graph, runLimits } from './graph';
import { durationOf } from './nodes';
import { integer } from './numbers';

/** US dollars. */
const amount = /^\d{1,6}(?:\.\d{1,6})?$/;

/** What limits the runs of a graph; what is wrong with it is added to `problems`. */
export function readLimits(attributes: Attributes, problems: string[]): Pick<Graph, 'loopLimit' | 'budget'> {
  const problem = (message: string): void => void problems.push(`Graph: ${message}.`);
  const loopLimit = integer('loop_limit', attributes, { range: [1, runLimits.stages], problem });
  const cost = attributes.get('budget_cost');
  if (cost !== undefined && !(amount.test(cost) && Number(cost) > 0)) {
    problem('budget_cost must be an amount of US dollars such as 2.50');
  }
  const budget: Budget = compact({
    tokens: integer('budget_tokens', attributes, { range: [1, 999_999_999], problem }),
    cost: cost === undefined ? undefined : Number(cost),
    timeMs: durationOf('budget_time', attributes, problem),
  });
  return compact({ loopLimit, budget: Object.keys(budget).length > 0 ? budget : undefined });
}
