import type { Database, LogEntry } from '../../../stores/port/collection';
import type { ToolUse } from '../runs/execution/turns';
import type { Exchange } from './session';

/**
 * What watchers of a session receive. Events of an exchange carry its number as `turn`, so that what a superseded answer
 * still adds is not mistaken for the next one.
 */
export type SessionEvent =
  /**
   * A piece of an answer that belongs at `offset` (UTF-16 units) of its text, whatever was there. An answer that is begun
   * again after a crash begins again at 0, with a higher `attempt`; so does what its model answers after its tools, with a higher `round`.
   */
  | { event: 'content_delta'; data: { delta: string; turn: number; round: number; attempt: number; offset: number } }
  | { event: 'assistant_turn'; data: { kind: 'assistant'; turn: number } & NonNullable<Exchange['answer']> }
  /** The calls of a round, and what came of them. */
  | { event: 'tool_turn'; data: { kind: 'tool'; tools: ToolUse[]; created_at: string; turn: number } }
  /** A call waits for its approval, or the board cannot be asked now, which is without an approval. */
  | { event: 'tool_waiting'; data: { tool?: string; approval_id?: string; reason: string; turn: number } }
  /** The answer will not come: another message came first. */
  | { event: 'superseded'; data: { turn: number } }
  | { event: 'done'; data: { turn: number } }
  | { event: 'error'; data: { message: string; turn: number } };

export type SessionLogEntry = LogEntry & { at: string } & SessionEvent;
type NewEvent = SessionEvent & { key: string };

const keptForSeconds = 86_400;

/** The events of every session, in order, for a day. The turns themselves are stored with the session. */
export async function createSessionEvents(db: Database) {
  const log = await db.log<SessionLogEntry>({
    name: 'workflow-run-session-events',
    expire: { field: 'at', afterSeconds: keptForSeconds },
  });
  return {
    /** @param events an event whose key is there already is not published again */
    async append(session: string, at: string, ...events: NewEvent[]): Promise<void> {
      const entries = events.map(({ key: dedupeKey, ...event }) => ({ ...event, at, dedupeKey }));
      await log.append(session, entries);
    },
    last: (session: string): Promise<number> => log.last(session),
    /** Batches of events after the sequence `after`, until `signal` aborts. */
    watch: (session: string, after: number, signal: AbortSignal): AsyncIterable<SessionLogEntry[]> =>
      log.watch(session, { after, signal }),
  };
}

export type SessionEvents = Awaited<ReturnType<typeof createSessionEvents>>;
