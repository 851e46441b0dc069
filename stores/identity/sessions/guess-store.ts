import type { Database, Stored } from '../../port/collection';
import { insertOnce } from '../../port/insert';

interface Guesses extends Stored {
  /** Wrong ones since the last right one. */
  wrong: number;
  /** Until when none is taken; empty: now. */
  lockedUntil: string;
  forgetAt: string;
}

/** Wrong guesses that are taken without a wait. */
export const freeGuesses = 5;

const firstLockMs = 60_000;
const longestLockMs = 3_600_000;
const rememberedMs = 86_400_000;
const maxTries = 50;

/** How long no further guess is taken after so many wrong ones, in milliseconds. */
export const lockMs = (wrong: number): number =>
  wrong < freeGuesses ? 0 : Math.min(firstLockMs * 2 ** (wrong - freeGuesses), longestLockMs);

/**
 * Counts guesses of a secret, and takes none for a while after too many wrong ones, whichever process is asked. A guess is
 * counted as wrong before it is looked at: however many come at once, no more than the free ones are looked at.
 */
export async function createGuessStore(db: Database, now: () => Date = () => new Date()) {
  const guesses = await db.collection<Guesses>({
    name: 'guesses',
    expire: { field: 'forgetAt', afterSeconds: 60 },
  });

  const present = async (_id: string): Promise<Guesses | undefined> => {
    const found = await guesses.get(_id);
    return found && found.forgetAt > now().toISOString() ? found : undefined;
  };

  const locked = (found: Guesses | undefined): string | undefined =>
    found && found.lockedUntil > now().toISOString() ? found.lockedUntil : undefined;

  /** Counts one wrong guess; until when no guess is taken, when that is so already. */
  async function count(_id: string): Promise<string | undefined> {
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      const stored = await guesses.get(_id);
      const found = stored && stored.forgetAt > now().toISOString() ? stored : undefined;
      const until = locked(found);
      if (until !== undefined) {
        return until;
      }
      const wrong = (found?.wrong ?? 0) + 1;
      const at = now().getTime();
      const next = {
        wrong,
        lockedUntil: lockMs(wrong) === 0 ? '' : new Date(at + lockMs(wrong)).toISOString(),
        forgetAt: new Date(at + rememberedMs).toISOString(),
      };
      const counted = stored
        ? await guesses.findOneAndUpdate(
            { _id, wrong: stored.wrong, lockedUntil: stored.lockedUntil, forgetAt: stored.forgetAt },
            { $set: next },
          )
        : await insertOnce(guesses, { _id, ...next });
      if (counted) {
        return undefined;
      }
    }
    throw new Error('Too many guesses are counted at once.');
  }

  return {
    /**
     * Counts one guess of each key as wrong.
     *
     * @returns until when no guess is taken, when one of the keys is locked: then this one is not to be looked at
     */
    async begin(keys: readonly string[]): Promise<string | undefined> {
      const before = (await Promise.all(keys.map(present))).map(locked).find((until) => until !== undefined);
      if (before !== undefined) {
        return before;
      }
      for (const key of keys) {
        const until = await count(key);
        if (until !== undefined) {
          return until;
        }
      }
      return undefined;
    },

    /** Until when no guess of a key is taken; `undefined` when one is now. */
    lockedUntil: async (key: string): Promise<string | undefined> => locked(await present(key)),

    /** The guess was right: the wrong ones before it are forgotten. */
    async forget(keys: readonly string[]): Promise<void> {
      for (const key of keys) {
        await guesses.deleteMany({ _id: key });
      }
    },
  };
}
