import { comingWithin } from './coming-within';
import type { ServerSentEvent } from './event-stream';

/** A ping of streams whose events have no `type` of their own. It has no id: a reader resumes behind the event before it. */
export const ping: ServerSentEvent = { event: 'ping', data: {} };

/**
 * Puts a `ping` wherever nothing has come for `everyMs`, so that neither side, nor a proxy between them, takes the
 * connection for dead.
 */
export async function* withPings(
  events: AsyncIterable<ServerSentEvent>,
  everyMs: number,
  pingEvent: ServerSentEvent,
): AsyncGenerator<ServerSentEvent> {
  const iterator = events[Symbol.asyncIterator]();
  for (;;) {
    const next = iterator.next();
    // A reader that leaves during a ping never comes to await it.
    next.catch(() => undefined);
    for (;;) {
      const came = await comingWithin(everyMs, next);
      if (came === undefined) {
        yield pingEvent;
      } else if (came.done === true) {
        return;
      } else {
        yield came.value;
        break;
      }
    }
  }
}
