import type { AnswerListener, ModelAnswer } from '../../../platform/models/request';
import type { EventQueue } from '../http/event-queue';
import type { ServerSentEvent } from '../http/event-stream';

type BlockKind = 'text' | 'thinking' | 'tool_use';

/** An event that is named by the `type` of its data, as all of a completion are. */
export const typed = (type: string, fields: Record<string, unknown> = {}): ServerSentEvent => ({
  event: type,
  data: { type, ...fields },
});

/**
 * Streams an answer in the style of Anthropic's Messages API: a message of content blocks, each of which
 * starts, grows and stops before the next one.
 */
export class MessageEvents implements Required<AnswerListener> {
  private index = -1;
  private open: BlockKind | undefined;

  constructor(private readonly events: EventQueue<ServerSentEvent>) {}

  start(id: string, model: string): void {
    this.push('message_start', {
      message: {
        id,
        type: 'message',
        role: 'assistant',
        content: [],
        model,
        stop_reason: null,
        usage: { input_tokens: 0 },
      },
    });
  }

  onText = (text: string): void => {
    this.block('text', { text: '' });
    this.delta({ type: 'text_delta', text });
  };

  onThinking = (thinking: string): void => {
    this.block('thinking', { thinking: '' });
    this.delta({ type: 'thinking_delta', thinking });
  };

  onToolCall: Required<AnswerListener>['onToolCall'] = ({ id, name, arguments: input }) => {
    // Two calls in a row are two blocks.
    this.stopBlock();
    this.block('tool_use', { id, name, input: {} });
    this.delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) });
  };

  finish({ stopReason, usage }: Pick<ModelAnswer, 'stopReason' | 'usage'>): void {
    this.stopBlock();
    this.push('message_delta', { delta: { stop_reason: stopReason }, usage: { output_tokens: usage.output_tokens } });
    this.stop();
  }

  stop(): void {
    this.push('message_stop');
    this.events.end();
  }

  fail(message: string): void {
    this.push('error', { error: { type: 'server_error', message } });
    this.events.end();
  }

  /** Makes sure that the block that is written to is of this kind. */
  private block(kind: BlockKind, content: Record<string, unknown>): void {
    if (this.open === kind) {
      return;
    }
    this.stopBlock();
    this.open = kind;
    this.index += 1;
    this.push('content_block_start', { index: this.index, content_block: { type: kind, ...content } });
    if (this.index === 0) {
      this.push('ping');
    }
  }

  private stopBlock(): void {
    if (this.open === undefined) {
      return;
    }
    this.open = undefined;
    this.push('content_block_stop', { index: this.index });
  }

  private delta(delta: Record<string, unknown>): void {
    this.push('content_block_delta', { index: this.index, delta });
  }

  private push(type: string, fields?: Record<string, unknown>): void {
    this.events.push(typed(type, fields));
  }
}
