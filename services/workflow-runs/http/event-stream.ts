import { BytesResponse } from '../../../platform/http/response';
import { refuse } from './errors';

/** One message of an event stream (Server-Sent Events). */
export interface ServerSentEvent {
  /** Absent: an unnamed message. */
  event?: string;
  /** What the reader sends as `Last-Event-ID` to resume behind this one. */
  id?: number;
  data: unknown;
}

const frame = ({ event, id, data }: ServerSentEvent): Buffer =>
  Buffer.from(
    `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`,
  );

async function* frames(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<Buffer> {
  for await (const event of events) {
    yield frame(event);
  }
}

/** Responds with events as they come; a reader that leaves ends the iteration. */
export const eventStream = (events: AsyncIterable<ServerSentEvent>): BytesResponse =>
  new BytesResponse(frames(events), {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });

/**
 * The position a reader resumes at: the number in `Last-Event-ID`, `undefined` without one.
 *
 * @throws AppError 400 for anything else
 */
export function lastEventId(header = ''): number | undefined {
  if (header === '') {
    return undefined;
  }
  if (!/^\d{1,15}$/.test(header)) {
    throw refuse(400, 'Last-Event-ID: must be the id of an event, which is a whole number.');
  }
  return Number(header);
}

/**
 * Refuses a position behind the last event: its reader would miss what comes until there are so many events, the end included.
 *
 * @throws AppError 400
 */
export function assertReached(after: number, last: number): void {
  if (after > last) {
    throw refuse(400, `Last-Event-ID: must be the id of an event; the last one is ${last}.`);
  }
}
