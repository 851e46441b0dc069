import type { ServerSentEvent } from '../http/event-stream';
import type { SessionEvents } from './events';

/** The events of a session behind the one with the id `after`, as they come. */
export async function* sessionStream(
  events: SessionEvents,
  session: string,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent> {
  for await (const batch of events.watch(session, after, signal)) {
    for (const { sequence: id, event, data } of batch) {
      yield { id, event, data };
    }
  }
}
