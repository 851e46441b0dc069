import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { type LanguageModel, simulateStreamingMiddleware, wrapLanguageModel } from 'ai';
import { abortableFetch } from '../http/abortable-fetch';
import { compact } from '../json/compact';
import type { ReachedProvider } from './catalog';
import type { ModelRequest } from './request';

type ProviderOptions = Record<string, Record<string, unknown>>;

/** A key is sent to the address it was configured for and nowhere else. */
export const fetchWithoutRedirects: typeof abortableFetch = (input, init) =>
  abortableFetch(input, { ...init, redirect: 'error' });

/** The SDK's way to a model. The answer of one that cannot stream is a stream of one piece. */
export function languageModelOf(provider: ReachedProvider, upstreamId: string, key: string | undefined): LanguageModel {
  const model = reachedModel(provider, upstreamId, key);
  return provider.stream ? model : wrapLanguageModel({ model, middleware: simulateStreamingMiddleware() });
}

function reachedModel({ kind, name, base_url: baseURL }: ReachedProvider, upstreamId: string, key: string | undefined) {
  const common = { baseURL, fetch: fetchWithoutRedirects };
  switch (kind) {
    case 'anthropic':
      return createAnthropic({ ...common, apiKey: key ?? '' })(upstreamId);
    case 'openai':
      // The whole conversation is sent each time, so that nothing of it has to be stored there.
      return createOpenAI({ ...common, apiKey: key ?? '' }).chat(upstreamId);
    case 'openai-compatible':
      return createOpenAICompatible({
        ...common,
        name,
        ...compact({ apiKey: key }),
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(upstreamId);
  }
}

/** The options of this provider alone: the caller's, and its reasoning effort under the name it has here. */
export function providerOptionsOf({ kind, name }: ReachedProvider, request: ModelRequest): ProviderOptions {
  const { reasoning_effort: effort, provider_options: options } = request;
  const key = kind === 'openai-compatible' ? name : kind;
  const effortOption = kind === 'anthropic' ? { effort } : { reasoningEffort: effort };
  return { [key]: { ...(effort === undefined ? {} : effortOption), ...options?.[name] } };
}
