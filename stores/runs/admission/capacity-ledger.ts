import type { Capacity } from '../../../contracts/runs/admission';
import { blockedBy, type CapacityPolicy, resources, type Usage } from '../../../domain/admission/capacity';
import type { Database } from '../../port/collection';
import { insertOnce } from '../../port/insert';

/** What is counted for one generation of a reservation, and in which scopes. */
export interface Count {
  requested: Capacity;
  keys: string[];
}

/** A count whose reservation may not be written yet. */
export interface OpenCount extends Count {
  at: string;
}

/** A count as versions up to 0.4.0 make it: it stays in the ledger until its run ends. */
export interface Holder extends OpenCount {
  generation: number;
}

/**
 * The one arbiter of capacity. One document, so that one compare-and-set reserves in every scope or in none. It names the counts
 * that were made or released a moment ago, and leaves the others to their reservations: so it has the size of what is used, and
 * not of who uses it.
 */
export interface Ledger {
  _id: 'ledger';
  usage: Record<string, Capacity>;
  holders: Record<string, Holder>;
  counting: Record<string, OpenCount>;
  released: Record<string, true>;
  /**
   * Raised when entries are forgotten. Who has read that an entry is missing, and then its reservation, changes the ledger only in
   * the epoch of that read: so nothing that was done and forgotten in between is done again.
   */
  epoch: number;
}

/** How often a compare-and-set is tried while others change the same. */
const tries = 20;
/** Records of unused scopes are retained until there are more than this. */
const spareScopes = 64;
/** How many of them are forgotten at once: each is three conditions of one statement, which has at most a thousand. */
const prunedAtOnce = 128;

/** The name of a generation of a reservation in the ledger. */
export const entryOf = (id: string, generation: number): string => `${id}:${generation}`;

export function idOf(entry: string): { id: string; generation: number } {
  const at = entry.lastIndexOf(':');
  return { id: entry.slice(0, at), generation: Number(entry.slice(at + 1)) };
}

export type CountOutcome =
  | { outcome: 'counted'; count: OpenCount; ledger: Ledger }
  | { outcome: 'blocked'; policies: CapacityPolicy[]; usage: Usage }
  /** What it was decided on is not so any more. */
  | { outcome: 'changed' };

/** What is counted in each scope, and the changes of it whose reservations are yet to be written. */
export async function createCapacityLedger(db: Database) {
  const ledgers = await db.collection<Ledger>({ name: 'admission-ledger' });
  await insertOnce(ledgers, { _id: 'ledger', usage: {}, holders: {}, counting: {}, released: {}, epoch: 0 });
  // One that an earlier version has made.
  await ledgers.findOneAndUpdate(
    { _id: 'ledger', epoch: { $exists: false } },
    { $set: { counting: {}, released: {}, epoch: 0 } },
  );

  /**
   * Counts what is requested in every scope, or in none. Counted already, the count that there is.
   *
   * @param of.epoch that of the ledger as it was read before the reservation, which was not counted
   */
  async function count(
    entry: string,
    wanted: OpenCount,
    { policies, epoch }: { policies: CapacityPolicy[]; epoch: number },
  ): Promise<CountOutcome> {
    const { requested, keys } = wanted;
    const sufficientCapacity = Object.fromEntries(
      policies.map(({ key, resource, limit }) => [
        `usage.${key}.${resource}`,
        { $not: { $gt: limit - requested[resource] } },
      ]),
    );
    const changed = await ledgers.findOneAndUpdate(
      {
        _id: 'ledger',
        epoch,
        ...sufficientCapacity,
        [`counting.${entry}`]: { $exists: false },
        [`released.${entry}`]: { $exists: false },
      },
      { $inc: counted(keys, requested, 1), $set: { [`counting.${entry}`]: wanted } },
    );
    if (changed) {
      return { outcome: 'counted', count: wanted, ledger: changed };
    }
    const ledger = await read();
    const open = ledger.counting[entry];
    if (open) {
      return { outcome: 'counted', count: open, ledger };
    }
    const blocked = ledger.epoch === epoch ? blockedBy(policies, ledger.usage, requested) : [];
    return blocked.length > 0 ? { outcome: 'blocked', policies: blocked, usage: ledger.usage } : { outcome: 'changed' };
  }

  /**
   * Takes back the count of a reservation that has ended; `undefined` when the ledger was changed since it was read.
   *
   * @param epoch that of the ledger as it was read before the reservation, which was counted
   */
  async function release(entry: string, { keys, requested }: Count, epoch: number): Promise<Ledger | undefined> {
    const changed = await ledgers.findOneAndUpdate(
      { _id: 'ledger', epoch, [`released.${entry}`]: { $exists: false } },
      {
        $inc: counted(keys, requested, -1),
        $set: { [`released.${entry}`]: true },
        $unset: { [`counting.${entry}`]: '' },
      },
    );
    if (changed) {
      await prune(changed);
    }
    return changed;
  }

  /** Takes back an open count that no reservation has, once, however often it is called. */
  async function retract(entry: string): Promise<boolean> {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const open = (await read()).counting[entry];
      if (!open) {
        return false;
      }
      const changed = await ledgers.findOneAndUpdate(
        { _id: 'ledger', [`counting.${entry}.at`]: open.at },
        { $inc: counted(open.keys, open.requested, -1), $unset: { [`counting.${entry}`]: '' } },
      );
      if (changed) {
        await prune(changed);
        return true;
      }
    }
    throw new Error(`The count of ${entry} kept changing in the admission ledger. Try again.`);
  }

  /** Forgets entries whose reservations have what they say, in the epoch in which that was found. */
  const forget = ({ epoch }: Pick<Ledger, 'epoch'>, entries: { counting: string[]; released: string[] }) =>
    ledgers.findOneAndUpdate(
      { _id: 'ledger', epoch },
      {
        $inc: { epoch: 1 },
        $unset: Object.fromEntries([
          ...entries.counting.map((entry) => [`counting.${entry}`, ''] as const),
          ...entries.released.map((entry) => [`released.${entry}`, ''] as const),
        ]),
      },
    );

  /** Takes a holder of an earlier version out of the ledger, once, however often it is called. */
  async function releaseHolder(id: string, { generation, keys, requested }: Omit<Holder, 'at'>): Promise<boolean> {
    const changed = await ledgers.findOneAndUpdate(
      { _id: 'ledger', [`holders.${id}.generation`]: generation },
      { $inc: counted(keys, requested, -1), $unset: { [`holders.${id}`]: '' } },
    );
    if (changed) {
      await prune(changed);
    }
    return changed !== undefined;
  }

  /** Forgets scopes without usage, now and then. */
  async function prune({ usage }: Ledger): Promise<void> {
    const unused = Object.entries(usage).flatMap(([key, capacity]) =>
      resources.every((resource) => capacity[resource] === 0) ? [key] : [],
    );
    if (unused.length <= spareScopes) {
      return;
    }
    const some = unused.slice(0, prunedAtOnce);
    const still = some.flatMap((key) => resources.map((resource) => [`usage.${key}.${resource}`, 0] as const));
    await ledgers.findOneAndUpdate(
      { _id: 'ledger', ...Object.fromEntries(still) },
      { $unset: Object.fromEntries(some.map((key) => [`usage.${key}`, ''])) },
    );
  }

  async function read(): Promise<Ledger> {
    const ledger = await ledgers.get('ledger');
    if (!ledger) {
      throw new Error('The admission ledger is missing from the stores.');
    }
    return ledger;
  }

  return { count, release, retract, forget, releaseHolder, read };
}

export type CapacityLedger = Awaited<ReturnType<typeof createCapacityLedger>>;

/** The increments that count a request in scopes, or take it back. */
const counted = (keys: string[], requested: Capacity, sign: 1 | -1): Record<string, number> =>
  Object.fromEntries(
    keys.flatMap((key) => resources.map((resource) => [`usage.${key}.${resource}`, sign * requested[resource]])),
  );
