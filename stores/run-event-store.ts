import { randomUUID } from 'node:crypto';
import type { RunEvent, RunEventInput } from '../contracts/run-event';
import type { Database, LogEntry } from './collection';
import type { FeedStore } from './feed-store';

type StoredRunEvent = LogEntry & Omit<RunEvent, 'sequence' | 'dedupeKey'>;

/** What every event of one attempt has in common. */
export interface RunEventSource {
  taskId: string;
  attemptId: string;
  provider: string;
  agent: string;
  model?: string;
}

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
      const receivedAt = now().toISOString();
      const sequences = await log.append(
        source.attemptId,
        events.map((event) => {
          const bytes = Buffer.byteLength(JSON.stringify(event.payload));
          return {
            schemaVersion: 'run-event/v1' as const,
            eventId: randomUUID(),
            taskId: source.taskId,
            runId: source.attemptId,
            attemptId: source.attemptId,
            receivedAt: event.receivedAt ?? receivedAt,
            kind: event.kind,
            source: {
              provider: source.provider,
              agent: source.agent,
              ...(source.model === undefined ? {} : { model: source.model }),
            },
            redaction: event.redaction ?? {
              status: 'none' as const,
              fields: [],
              originalBytes: bytes,
              persistedBytes: bytes,
            },
            payload: event.payload,
            ...(event.dedupeKey === undefined ? {} : { dedupeKey: event.dedupeKey }),
          };
        }),
      );
      await feed.append({
        type: 'run.events',
        taskId: source.taskId,
        attemptId: source.attemptId,
        upTo: Math.max(...sequences),
      });
      return sequences;
    },

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
