import { z } from 'zod';
import { textPart, thinkingPart, toolCallPart } from '../../../platform/models/message';
import { type ModelAnswer, modelRequest, stopReason } from '../../../platform/models/request';

/** The request of a completion: a request to a model, and the form of its answer. */
export const completionRequest = modelRequest
  .safeExtend({
    /** As events while it comes. A `schema` makes it one JSON answer in any case. */
    stream: z.boolean().default(true),
  })
  .meta({ id: 'CompletionRequest' });

export const completion = z
  .object({
    id: z.string(),
    model: z.string(),
    message: z.object({
      role: z.literal('assistant'),
      content: z.array(z.discriminatedUnion('kind', [textPart, thinkingPart, toolCallPart])),
    }),
    stop_reason: stopReason,
    usage: z.object({ input_tokens: z.number().int(), output_tokens: z.number().int() }),
    output: z
      .unknown()
      .optional()
      .meta({ description: 'With a schema: JSON that fits it; absent when the model calls tools instead' }),
  })
  .meta({ id: 'Completion' });
export type Completion = z.infer<typeof completion>;

/** An answer as one JSON document. */
export function completionOf(
  id: string,
  { text, thinking, toolCalls, stopReason, usage, model }: ModelAnswer,
): Completion {
  return {
    id,
    model,
    message: {
      role: 'assistant',
      content: [
        ...thinking.map((data) => ({ kind: 'thinking' as const, data })),
        ...(text === '' ? [] : [{ kind: 'text' as const, data: text }]),
        ...toolCalls.map((data) => ({ kind: 'tool_call' as const, data })),
      ],
    },
    stop_reason: stopReason,
    usage: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens },
  };
}

/** What a completion is in a dry run. */
export const dryCompletion = (id: string, model: string): Completion => ({
  id,
  model,
  message: { role: 'assistant', content: [] },
  stop_reason: 'end_turn',
  usage: { input_tokens: 0, output_tokens: 0 },
});
