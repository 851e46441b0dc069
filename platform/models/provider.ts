import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import { compact } from '../json/compact';
import type { ReachedProvider } from './catalog';
import type { ModelRequest } from './request';

type ProviderOptions = Record<string, Record<string, unknown>>;

/** A key is sent to the address it was configured for and nowhere else. */
export const fetchWithoutRedirects: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' });

/** The SDK's way to a model. */
export function languageModelOf(
  { kind, name, base_url: baseURL }: ReachedProvider,
  upstreamId: string,
  key: string | undefined,
): LanguageModel {
  const common = { baseURL, fetch: fetchWithoutRedirects };
  if (kind === 'anthropic') {
    return createAnthropic({ ...common, apiKey: key ?? '' })(upstreamId);
  }
  return createOpenAICompatible({
    ...common,
    name,
    ...compact({ apiKey: key }),
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(upstreamId);
}

/** The options of this provider alone: the caller's, and its reasoning effort under the name it has here. */
export function providerOptionsOf({ kind, name }: ReachedProvider, request: ModelRequest): ProviderOptions {
  const { reasoning_effort: effort, provider_options: options } = request;
  const key = kind === 'anthropic' ? 'anthropic' : name;
  const effortOption = kind === 'anthropic' ? { effort } : { reasoningEffort: effort };
  return { [key]: { ...(effort === undefined ? {} : effortOption), ...options?.[name] } };
}
