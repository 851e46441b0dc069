import { z } from 'zod';
import { messages, type Thinking, type ToolCall } from './message';
import { modelName } from './model';

const maxTools = 128;
const jsonObject = z.record(z.string(), z.unknown());
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, underscore and dash, at most 64');

const tool = z.strictObject({
  name: toolName,
  description: z.string().max(10_000).optional(),
  /** A JSON schema. */
  parameters: jsonObject,
});

/** A call names its tool: of two with one name, a model would be sent the last alone. */
const tools = z
  .array(tool)
  .max(maxTools)
  .superRefine((list, context) => {
    const names = list.map(({ name }) => name);
    names.forEach((name, index) => {
      if (names.indexOf(name) < index) {
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `is that of an earlier tool: ${name}` });
      }
    });
  });

const toolChoice = z
  .strictObject({ mode: z.enum(['auto', 'none', 'required', 'named']), tool_name: toolName.optional() })
  .refine(({ mode, tool_name }) => (mode === 'named') === (tool_name !== undefined), {
    path: ['tool_name'],
    message: 'is allowed only with the mode named',
  });

/** A request to a model, from any caller. */
export const modelRequest = z
  .strictObject({
    messages,
    /** An id or alias; the default model without it. */
    model: modelName.optional(),
    /** The model must be of this provider. */
    provider: z.string().max(64).optional(),
    /** Stands before the messages. */
    system: z.string().max(1_000_000).optional(),
    tools: tools.optional(),
    tool_choice: toolChoice.optional(),
    /** A JSON schema: the answer is JSON that is to fit it. */
    schema: jsonObject.optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_tokens: z.number().int().min(1).max(10_000_000).optional(),
    top_p: z.number().min(0).max(1).optional(),
    stop_sequences: z.array(z.string().min(1).max(256)).max(16).optional(),
    reasoning_effort: z.string().min(1).max(32).optional(),
    /** What only one provider understands, by the provider's name in the catalog. */
    provider_options: z.record(z.string(), jsonObject).optional(),
  })
  .superRefine(({ tools = [], tool_choice: choice }, context) => {
    if (choice?.mode === 'required' && tools.length === 0) {
      context.addIssue({ code: 'custom', path: ['tool_choice', 'mode'], message: 'required needs tools' });
    }
    if (choice?.mode === 'named' && !tools.some(({ name }) => name === choice.tool_name)) {
      context.addIssue({
        code: 'custom',
        path: ['tool_choice', 'tool_name'],
        message: 'is the name of none of the tools',
      });
    }
  });
export type ModelRequest = z.input<typeof modelRequest>;

export const stopReason = z.enum(['end_turn', 'max_tokens', 'tool_calls', 'content_filter', 'error']);
export type StopReason = z.infer<typeof stopReason>;

/** Tokens, and what they cost in USD at the prices of the catalog. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  /** Of the input tokens; absent without any. */
  cache_read_tokens?: number;
  /** Of the output tokens; absent without any. */
  reasoning_tokens?: number;
  /** `null` where the catalog has no price of them. */
  cost: number | null;
}

/** The answer of a model. */
export interface ModelAnswer {
  text: string;
  thinking: Thinking[];
  toolCalls: ToolCall[];
  stopReason: StopReason;
  usage: Usage;
  /** Id of the model. */
  model: string;
}

/** Receives an answer while it comes, piece by piece. */
export interface AnswerListener {
  onText?: (delta: string) => void;
  onThinking?: (delta: string) => void;
  onToolCall?: (call: ToolCall) => void;
}
