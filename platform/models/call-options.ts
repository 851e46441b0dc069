import { jsonSchema, type LanguageModel, Output, type streamText, tool, type ToolChoice, type ToolSet } from 'ai';
import type { z } from 'zod';
import { compact } from '../json/compact';
import type { Model } from './model';
import { promptOf } from './prompt';
import type { modelRequest } from './request';

/** Everything that one call of a model takes. */
export interface Call {
  model: Model;
  language: LanguageModel;
  request: z.output<typeof modelRequest>;
  /** For providers that require a maximum of tokens, when the caller names none. */
  mostTokens?: number | undefined;
  providerOptions: Record<string, Record<string, unknown>>;
  signal: AbortSignal;
}

/** A call in the terms of the SDK. */
export function optionsOf({
  language,
  request,
  mostTokens: maxTokens,
  providerOptions,
  signal,
}: Call): Parameters<typeof streamText>[0] {
  const { system, messages, tools, tool_choice: choice, schema, temperature, top_p, stop_sequences } = request;
  const maxOutputTokens = request.max_tokens ?? maxTokens;
  return {
    model: language,
    messages: promptOf(messages),
    // Callers write the whole conversation, instructions included.
    allowSystemInMessages: true,
    ...compact({ system }),
    ...(tools && tools.length > 0 ? { tools: toolSet(tools) } : {}),
    ...(choice && { toolChoice: toolChoiceOf(choice) }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...compact({ temperature, topP: top_p, maxOutputTokens, stopSequences: stop_sequences }),
    providerOptions: providerOptions as NonNullable<Parameters<typeof streamText>[0]['providerOptions']>,
    // The caller decides whether a retry is worth it.
    maxRetries: 0,
    abortSignal: signal,
    // It is thrown from the stream.
    onError: () => undefined,
  };
}

/** Definitions only: the caller executes the calls. */
const toolSet = (tools: NonNullable<Call['request']['tools']>): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ ...compact({ description }), inputSchema: jsonSchema(parameters) }),
    ]),
  );

const toolChoiceOf = ({
  mode,
  tool_name: toolName = '',
}: NonNullable<Call['request']['tool_choice']>): ToolChoice<ToolSet> =>
  mode === 'named' ? { type: 'tool', toolName } : mode;
