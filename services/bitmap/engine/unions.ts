import type { Steps } from '../steps';
import { ColumnSet } from './column-set';

/** So many sets are joined in one step. */
const setsOfStep = 64;

/** The union of many sets, some of them at a time. */
export function* unionInSteps(sets: readonly ColumnSet[]): Steps<ColumnSet> {
  let all = ColumnSet.union(sets.slice(0, setsOfStep));
  for (let from = setsOfStep; from < sets.length; from += setsOfStep) {
    yield;
    all = ColumnSet.union([all, ...sets.slice(from, from + setsOfStep)]);
  }
  return all;
}
