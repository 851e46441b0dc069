import { randomUUID } from 'node:crypto';
import type { RunEvent, RunEventInput } from '../contracts/run-event';
import { sealEvent, type RunEventSource, type SealedEvent } from '../runs/events/seal';
import type { Database, LogEntry } from './collection';
import type { FeedStore } from './feed-store';

type StoredRunEvent = LogEntry & Omit<SealedEvent, 'dedupeKey'>;

/** The events of runs: one gapless sequence per attempt, announced on the feed as they are appended. */
export async function createRunEventStore(db: Database, feed: FeedStore, now: () => Date = () => new Date()) {
  const log = await db.log<StoredRunEvent>({ name: 'run-events' });

  return {
    /**
     * Appends in order and announces the new end of the sequence. An event whose `dedupeKey` is there already is not
     * appended again, so that a repeated activity tells nothing twice.
     *
     * @returns the sequence of each event
     */
    async append(source: RunEventSource, events: RunEventInput[]): Promise<number[]> {
      if (events.length === 0) return [];
      const { taskId, attemptId } = source;
      const at = now().toISOString();
      return log.appendAndTell(
        attemptId,
        events.map((event) => sealEvent(source, event, { eventId: randomUUID(), now: at })),
        feed.notice((upTo) => ({ type: 'run.events', taskId, attemptId, upTo })),
      );
    },

    /** At most `limit` events with `sequence > after`, in order. */
    async read(attemptId: string, after: number, limit: number): Promise<RunEvent[]> {
      const entries = await log.read(attemptId, after, limit);
      return entries.map(present);
    },

    last: (attemptId: string) => log.last(attemptId),
  };
}

export type RunEventStore = Awaited<ReturnType<typeof createRunEventStore>>;

/** Leaves out what only the store needs. */
function present(entry: StoredRunEvent & { _id?: string }): RunEvent {
  const { scope: _scope, _id, ...event } = entry;
  return event;
}
