import type { FeedMessage } from '../../contracts/system/feed';
import type { Database, LogEntry, Notice } from '../port/collection';

export type FeedEntry = LogEntry & { at: string; message: FeedMessage };

/** The one scope of the feed: every replica receives everything. */
const scope = 'board';

/** Events, for every api replica to forward to its watchers. Retained for a day. */
export async function createFeedStore(db: Database, now: () => Date = () => new Date()) {
  const log = await db.log<FeedEntry>({ name: 'feed', expire: { field: 'at', afterSeconds: 86_400 } });
  return {
    async append(...messages: FeedMessage[]): Promise<void> {
      await log.append(
        scope,
        messages.map((message) => ({ at: now().toISOString(), message })),
      );
    },
    /** For a log that announces its entries here, in the same write. */
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
