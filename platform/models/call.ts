import { streamText } from 'ai';
import { type Call, optionsOf } from './call-options';
import type { Thinking, ToolCall } from './message';
import type { AnswerListener, ModelAnswer, StopReason } from './request';
import { usageOf } from './usage';

// It prints warnings on the console by default.
globalThis.AI_SDK_LOG_WARNINGS = false;

/**
 * Calls a model once and collects its answer. It is always asked for a stream, with or without a listener: a
 * connection on which nothing moves for minutes is one that proxies cut.
 *
 * @throws the errors of the SDK and the signal
 */
export async function callModel(call: Call, { onText, onThinking, onToolCall }: AnswerListener): Promise<ModelAnswer> {
  const { model, signal } = call;
  let text = '';
  const thinking: Thinking[] = [];
  const toolCalls: ToolCall[] = [];
  for await (const part of streamText(optionsOf(call)).fullStream) {
    switch (part.type) {
      case 'text-delta':
        text += part.text;
        onText?.(part.text);
        break;
      case 'reasoning-start':
        thinking.push({ text: '' });
        break;
      case 'reasoning-delta':
      case 'reasoning-end': {
        const current = thinking.at(-1);
        const signature = part.providerMetadata?.anthropic?.signature;
        if (current && typeof signature === 'string') {
          current.signature = signature;
        }
        if (part.type === 'reasoning-end' || !current) {
          break;
        }
        current.text += part.text;
        onThinking?.(part.text);
        break;
      }
      case 'tool-call': {
        const made = { id: part.toolCallId, name: part.toolName, arguments: part.input as unknown };
        toolCalls.push(made);
        onToolCall?.(made);
        break;
      }
      case 'error':
        throw part.error;
      case 'abort':
        throw signal.reason;
      case 'finish':
        return {
          text,
          thinking: thinking.filter((each) => each.text !== ''),
          toolCalls,
          stopReason: stopReasonOf(part.finishReason),
          usage: usageOf(part.totalUsage, model.costs),
          model: model.id,
        };
    }
  }
  signal.throwIfAborted();
  throw new Error('The response was interrupted.');
}

function stopReasonOf(reason: string): StopReason {
  switch (reason) {
    case 'length':
      return 'max_tokens';
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    case 'error':
      return 'error';
    default:
      return 'end_turn';
  }
}
