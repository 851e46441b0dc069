import type { RunEvent } from '../../../contracts/runs/event';
import type { RunEventStore } from '../../../stores/runs/event-store';

/** Up to `limit` events of an attempt after `cursor`, of which there are some up to `upTo`. */
export interface EventPage {
  attemptId: string;
  cursor: number;
  upTo: number;
  limit: number;
}

export type ReadPage = (page: EventPage) => Promise<RunEvent[]>;

/**
 * Reads the same page once for all who read it at the same time: the watchers of one run are notified of its events together.
 * A page is shared only with those who know of no later event: what a read has not seen, it would make them miss.
 */
export function shareReads(events: Pick<RunEventStore, 'read'>): ReadPage {
  const reading = new Map<string, Promise<RunEvent[]>>();
  return ({ attemptId, cursor, upTo, limit }) => {
    const key = `${attemptId} ${cursor} ${upTo} ${limit}`;
    const shared = reading.get(key);
    if (shared) {
      return shared;
    }
    const read = events.read(attemptId, cursor, limit).finally(() => reading.delete(key));
    reading.set(key, read);
    return read;
  };
}
