import type { Severity } from '../../contracts/knowledge/error';
import { severity } from '../../contracts/knowledge/error';

const rank = (one: Severity): number => severity.options.indexOf(one);

/** Whether a severity is at least another one; none is less than any. */
export const isAtLeast = (one: Severity | null, least: Severity): boolean => one !== null && rank(one) >= rank(least);

/** The highest of them; null without any. */
export const highest = (all: Iterable<Severity>): Severity | null => {
  let top: Severity | null = null;
  for (const one of all) {
    top = isAtLeast(top, one) ? top : one;
  }
  return top;
};
