import { createHash } from 'node:crypto';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { insertOrGet } from '../port/insert';

interface Count extends Stored {
  count: number;
  /** When its window is over and it is not read any more. */
  endsAt: string;
}

/** That one action was counted, under which number. */
interface Counted extends Stored {
  number: number;
  endsAt: string;
}

/** How long an action is remembered as counted, beyond its window, in milliseconds: longer than it is retried. */
const rememberedMs = 86_400_000;

/** What is counted, and how long a window is. */
export interface RateWindow {
  key: readonly string[];
  windowMs: number;
}

/** How often something was done in the present window, exactly, whichever process it was done in. */
export async function createRateCountStore(db: Database, now: () => Date = () => new Date()) {
  const counts = await db.collection<Count>({
    name: 'rate-counts',
    expire: { field: 'endsAt', afterSeconds: 60 },
  });
  const counted = await db.collection<Counted>({
    name: 'rate-counted',
    expire: { field: 'endsAt', afterSeconds: 60 },
  });

  /** Windows are cut from the epoch on, so that every process has the same. */
  function windowOf({ key, windowMs }: RateWindow): { _id: string; endsAt: string } {
    const number = Math.floor(now().getTime() / windowMs);
    const digest = createHash('sha256')
      .update(JSON.stringify([...key, windowMs, number]))
      .digest('hex');
    return { _id: digest.slice(0, 32), endsAt: new Date((number + 1) * windowMs).toISOString() };
  }

  async function add({ _id, endsAt }: { _id: string; endsAt: string }): Promise<number> {
    const counted = await counts.findOneAndUpdate(
      { _id },
      { $inc: { count: 1 }, $setOnInsert: { endsAt } },
      { upsert: true },
    );
    return counted?.count ?? 1;
  }

  async function count(window: RateWindow): Promise<number> {
    const present = windowOf(window);
    try {
      return await add(present);
    } catch (error) {
      // Two processes began the window at the same moment: it exists now.
      if (!(error instanceof DuplicateKeyError)) {
        throw error;
      }
      return add(present);
    }
  }

  return {
    /** Counts one more, and returns how many there are with it. */
    count,

    /** Takes back one that was counted in the present window. */
    release: (window: RateWindow) =>
      counts.findOneAndUpdate({ _id: windowOf(window)._id, count: { $gt: 0 } }, { $inc: { count: -1 } }),

    /**
     * Counts an action that is asked about more than once, such as by the retry of an activity, and returns the number that it
     * got at first. A process that dies in between counts it twice, never not at all.
     */
    async countOnce(window: RateWindow, once: string): Promise<number> {
      const _id = createHash('sha256')
        .update(JSON.stringify([...window.key, window.windowMs, once]))
        .digest('hex');
      const before = await counted.get(_id);
      if (before) {
        return before.number;
      }
      const number = await count(window);
      const endsAt = new Date(now().getTime() + window.windowMs + rememberedMs).toISOString();
      return (await insertOrGet(counted, { _id, number, endsAt })).number;
    },

    /** How many there would be with one more. */
    async preview(window: RateWindow): Promise<number> {
      return ((await counts.get(windowOf(window)._id))?.count ?? 0) + 1;
    },
  };
}

export type RateCountStore = Awaited<ReturnType<typeof createRateCountStore>>;
