import type { FeedMessage } from '../contracts/feed';
import type { Database, LogEntry, Notice } from './collection';

export type FeedEntry = LogEntry & { at: string; message: FeedMessage };

/** The one scope of the feed: every replica hears everything. */
const scope = 'board';

/** What happened, for every api replica to pass on to its watchers. Kept for a day. */
export async function createFeedStore(db: Database, now: () => Date = () => new Date()) {
  const log = await db.log<FeedEntry>({ name: 'feed', expire: { field: 'at', afterSeconds: 86_400 } });
  return {
    async append(...messages: FeedMessage[]): Promise<void> {
      await log.append(
        scope,
        messages.map((message) => ({ at: now().toISOString(), message })),
      );
    },
    /** For a log that tells of its entries here, in the same write. */
    notice: (message: (last: number) => FeedMessage): Notice<FeedEntry> => ({
      log,
      scope,
      entry: (last) => ({ at: now().toISOString(), message: message(last) }),
    }),
    last: () => log.last(scope),
    /** Batches of messages appended after the sequence `after`, until `signal` aborts. */
    watch: (after: number, signal: AbortSignal) => log.watch(scope, { after, signal }),
  };
}

export type FeedStore = Awaited<ReturnType<typeof createFeedStore>>;
