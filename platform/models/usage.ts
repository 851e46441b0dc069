import type { LanguageModelUsage } from 'ai';
import { compact } from '../json/compact';
import type { Model } from './model';
import type { Usage } from './request';

type Reported = Pick<LanguageModelUsage, 'inputTokens' | 'inputTokenDetails' | 'outputTokens' | 'outputTokenDetails'>;

/** Tokens, and what they cost at the prices of the catalog; without a price of some of them it is not known. */
export function usageOf(
  { inputTokens = 0, inputTokenDetails, outputTokens = 0, outputTokenDetails }: Reported,
  {
    input_cost_per_mtok: input,
    output_cost_per_mtok: output,
    cache_input_cost_per_mtok: cache = input,
  }: Model['costs'],
): Usage {
  const { cacheReadTokens } = inputTokenDetails;
  const cached = Math.min(cacheReadTokens ?? 0, inputTokens);
  const parts = [costOf(inputTokens - cached, input), costOf(cached, cache), costOf(outputTokens, output)];
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...compact({
      cache_read_tokens: some(cacheReadTokens),
      reasoning_tokens: some(outputTokenDetails.reasoningTokens),
    }),
    cost: parts.reduce(added, 0),
  };
}

/** Providers that report none are read as if they reported 0. */
const some = (tokens: number | undefined): number | undefined => (tokens === 0 ? undefined : tokens);

const costOf = (tokens: number, price: number | undefined): number | null => {
  if (tokens === 0) {
    return 0;
  }
  return price === undefined ? null : (tokens * price) / 1_000_000;
};

/** What is below a billionth is noise of decimal fractions. */
const added = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.round((a + b) * 1e9) / 1e9;
