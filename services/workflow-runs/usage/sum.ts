import type { Usage } from '../runs/run';

export const nothingUsed: Usage = { input_tokens: 0, output_tokens: 0, cost: 0 };

const isNothing = ({ input_tokens, output_tokens, cost }: Usage): boolean =>
  input_tokens === 0 && output_tokens === 0 && cost === 0;

/** Tokens of both; those that neither side reports stay absent. */
function tokensOf(a: Usage, b: Usage): Omit<Usage, 'cost'> {
  const sum = (name: 'cache_read_tokens' | 'reasoning_tokens') =>
    a[name] === undefined && b[name] === undefined ? {} : { [name]: (a[name] ?? 0) + (b[name] ?? 0) };
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    ...sum('cache_read_tokens'),
    ...sum('reasoning_tokens'),
  };
}

/** What one stage has used with several calls: its cost is not known when that of one is not. */
export function addedUsage(a: Usage, b: Usage): Usage {
  return { ...tokensOf(a, b), cost: a.cost === null || b.cost === null ? null : a.cost + b.cost };
}

/** What several stages have used: the sum of the costs that are known, `null` when none is. */
export function summedUsage(a: Usage, b: Usage): Usage {
  if (isNothing(a) || isNothing(b)) {
    return { ...tokensOf(a, b), cost: isNothing(a) ? b.cost : a.cost };
  }
  const costs = [a.cost, b.cost].filter((cost) => cost !== null);
  return { ...tokensOf(a, b), cost: costs.length === 0 ? null : rounded(costs.reduce((sum, cost) => sum + cost)) };
}

/** Sums of decimal fractions: what is below a billionth is noise. */
export const rounded = (value: number): number => Math.round(value * 1e9) / 1e9;
