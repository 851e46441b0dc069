import { randomUUID } from 'node:crypto';
import type { RunEvent, RunEventInput } from '../../contracts/runs/event';
import { type RunEventSource, type SealedEvent, sealEvent, terminalKey } from '../../domain/events/seal';
import { conflict } from '../../platform/errors/app-error';
import type { Database, LogEntry } from '../port/collection';
import { SealedScopeError } from '../port/errors';
import type { FeedStore } from '../system/feed-store';

type StoredRunEvent = LogEntry & Omit<SealedEvent, 'dedupeKey'>;

/** The events of runs: one gapless sequence per attempt, announced on the feed as they are appended. */
export async function createRunEventStore(db: Database, feed: FeedStore, now: () => Date = () => new Date()) {
  const log = await db.log<StoredRunEvent>({ name: 'run-events', sealKey: terminalKey });

  /** `undefined` when the attempt has ended: the log refuses what is new after the event of its end. */
  async function appendUnlessEnded(source: RunEventSource, events: RunEventInput[]): Promise<number[] | undefined> {
    if (events.length === 0) {
      return [];
    }
    const { taskId, attemptId } = source;
    const at = now().toISOString();
    try {
      return await log.appendWithNotice(
        attemptId,
        events.map((event) => sealEvent(source, event, { eventId: randomUUID(), now: at })),
        feed.notice((upTo) => ({ type: 'run.events', taskId, attemptId, upTo })),
      );
    } catch (error) {
      if (error instanceof SealedScopeError) {
        return undefined;
      }
      throw error;
    }
  }

  return {
    /** Like `append`, for events of active runs only; `undefined` once the run has ended. */
    appendUnlessEnded,

    /**
     * Appends in order and announces the new end of the sequence. An event whose `dedupeKey` exists is not appended again, so
     * that a repeated activity reports nothing twice.
     *
     * @returns the sequence of each event
     * @throws AppError 409 `RUN_ENDED` when the attempt has ended, however late the writer is
     */
    async append(source: RunEventSource, events: RunEventInput[]): Promise<number[]> {
      const sequences = await appendUnlessEnded(source, events);
      if (sequences) {
        return sequences;
      }
      const { attemptId } = source;
      throw conflict('The run has ended; its log accepts no further events.', { attemptId }, 'RUN_ENDED');
    },

    /** Up to `limit` events with `sequence > after`, in order. */
    async read(attemptId: string, after: number, limit: number): Promise<RunEvent[]> {
      const entries = await log.read(attemptId, after, limit);
      return entries.map(present);
    },

    /** Removes the events of an attempt that has ended, but for the one that records how. @returns how many */
    purge: (attemptId: string): Promise<number> => log.trim(attemptId),

    last: (attemptId: string) => log.last(attemptId),
  };
}

export type RunEventStore = Awaited<ReturnType<typeof createRunEventStore>>;

/** Omits what only the store needs. */
function present(entry: StoredRunEvent & { _id?: string }): RunEvent {
  const { scope: _scope, _id, ...event } = entry;
  return event;
}
