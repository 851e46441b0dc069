import { maxMessages, type Message } from '../../../platform/models/message';
import type { ModelRequest } from '../../../platform/models/request';
import { tokensOf } from '../../../platform/models/tokens';
import type { Exchange } from './session';
import { roundMessages, roundsOf } from './tools/rounds';

/** The most exchanges a model is sent, this one among them. */
export const maxExchanges = 100;

/**
 * The conversation as a model is sent it: as much of its end as fits, this message in any case.
 *
 * @param exchanges in order; the last one is to be answered
 * @param contextWindow in tokens
 */
export function conversationOf(exchanges: readonly Exchange[], contextWindow: number): ModelRequest['messages'] {
  let room = contextWindow;
  const fitting: Message[] = [];
  for (const exchange of [...exchanges].reverse()) {
    const { content, answer, rounds = '' } = exchange;
    room -= tokensOf(content) + tokensOf(rounds) + tokensOf(answer?.content ?? '');
    const messages = messagesOf(exchange);
    if (fitting.length > 0 && (room < 0 || fitting.length + messages.length > maxMessages)) {
      break;
    }
    fitting.unshift(...messages);
  }
  return fitting;
}

const text = (data: string) => [{ kind: 'text' as const, data }];

const messagesOf = (exchange: Exchange): Message[] => [
  { role: 'user', content: text(exchange.content) },
  ...roundsOf(exchange).flatMap(roundMessages),
  ...(exchange.answer ? [{ role: 'assistant' as const, content: text(exchange.answer.content) }] : []),
];
