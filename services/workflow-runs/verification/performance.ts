import { compact } from '../../../platform/json/compact';
import type { Measured, Result } from './shapes';

/** What a control found in one run. */
export interface Evaluation {
  result: Result;
  /** What it found the first time it was put to the run. */
  first: Result;
  /** What it should have found, where a person has stated it. */
  expected?: 'pass' | 'fail';
}

const judged = (found: Result): boolean => found === 'pass' || found === 'fail';

/** The share of runs that passed at the first try, of those that passed or failed; absent when there are none. */
function passAt1(evaluations: readonly Evaluation[]): number | undefined {
  const first = evaluations.filter((evaluation) => judged(evaluation.first));
  return first.length === 0
    ? undefined
    : first.filter((evaluation) => evaluation.first === 'pass').length / first.length;
}

/**
 * How well a control finds what is wrong: the harmonic mean of precision and recall, where a `fail` is a find. Only runs
 * count of which it is known what it should have found; absent when nothing was to be found in them and nothing was.
 */
function f1(evaluations: readonly Evaluation[]): number | undefined {
  const known = evaluations.filter(({ result, expected }) => expected !== undefined && judged(result));
  const count = (result: Result, expected: Result): number =>
    known.filter((evaluation) => evaluation.result === result && evaluation.expected === expected).length;
  const right = count('fail', 'fail');
  const wrong = count('fail', 'pass') + count('pass', 'fail');
  return right + wrong === 0 ? undefined : (2 * right) / (2 * right + wrong);
}

/** @param evaluations the newest first */
export function measure(evaluations: readonly Evaluation[]): Measured {
  const score = f1(evaluations);
  const share = passAt1(evaluations);
  return {
    ...compact({ f1: score, pass_at_1: share }),
    ...(evaluations.length > 0 && { evaluations: evaluations.map(({ result }) => result) }),
  };
}

/** What a criterion comes to: a single failure fails it, a single pass passes it otherwise, and `skip` is more than `na`. */
export const together = (results: readonly Result[]): Result =>
  (['fail', 'pass', 'skip'] as const).find((found) => results.includes(found)) ?? 'na';
