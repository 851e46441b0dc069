import type { ModelRequest } from '../../../platform/models/request';
import { tokensOf } from '../../../platform/models/tokens';
import { type Exchange, turnsOf } from './session';

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
  const fitting: Exchange[] = [];
  for (const exchange of [...exchanges].reverse()) {
    room -= tokensOf(exchange.content) + tokensOf(exchange.answer?.content ?? '');
    if (room < 0 && fitting.length > 0) {
      break;
    }
    fitting.unshift(exchange);
  }
  return fitting
    .flatMap(turnsOf)
    .map(({ kind, content }) => ({ role: kind, content: [{ kind: 'text', data: content }] }));
}
