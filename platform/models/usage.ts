import type { LanguageModelUsage } from 'ai';
import type { Model } from './model';
import type { Usage } from './request';

/** Tokens, and what they cost at the prices of the catalog; a price that is not known counts as none. */
export function usageOf(
  {
    inputTokens = 0,
    inputTokenDetails,
    outputTokens = 0,
  }: Pick<LanguageModelUsage, 'inputTokens' | 'inputTokenDetails' | 'outputTokens'>,
  {
    input_cost_per_mtok: input = 0,
    output_cost_per_mtok: output = 0,
    cache_input_cost_per_mtok: cache = input,
  }: Model['costs'],
): Usage {
  const cached = Math.min(inputTokenDetails.cacheReadTokens ?? 0, inputTokens);
  const cost = ((inputTokens - cached) * input + cached * cache + outputTokens * output) / 1_000_000;
  // What is below a billionth is noise of decimal fractions.
  return { input_tokens: inputTokens, output_tokens: outputTokens, cost: Math.round(cost * 1e9) / 1e9 };
}
