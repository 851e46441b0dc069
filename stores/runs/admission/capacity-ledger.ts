import type { Capacity } from '../../../contracts/runs/admission';
import { blockedBy, type CapacityPolicy, resources, scopesOf } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Database } from '../../port/collection';
import { insertOnce } from '../../port/insert';

/** Who holds capacity, and of which generation of its reservation that is. */
export interface Holder {
  generation: number;
  at: string;
  requested: Capacity;
  keys: string[];
}

/** The one arbiter of capacity. One document, so that one compare-and-set reserves in every scope or in none. */
interface Ledger {
  _id: 'ledger';
  usage: Record<string, Capacity>;
  holders: Record<string, Holder>;
}

/** How often a compare-and-set is tried while others change the same. */
const tries = 20;
/** Records of unused scopes are retained until they outnumber the holders by this much. */
const spareScopes = 64;
/** How many of them are forgotten at once: each is three conditions of one statement, which has at most a thousand. */
const prunedAtOnce = 128;

/** Holders, and what they hold together in each scope. Each change is recorded in the reservation, too. */
export async function createCapacityLedger(db: Database) {
  const ledgers = await db.collection<Ledger>({ name: 'admission-ledger' });
  await insertOnce(ledgers, { _id: 'ledger', usage: {}, holders: {} });

  /** Counts the request in every scope, or in none. Done already, nothing changes. */
  async function hold(
    request: AdmissionRequest,
    policies: CapacityPolicy[],
    { generation, at }: { generation: number; at: string },
  ) {
    const { attemptId, requested } = request;
    const keys = scopesOf(request).map(({ key }) => key);
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const sufficientCapacity = Object.fromEntries(
        policies.map(({ key, resource, limit }) => [
          `usage.${key}.${resource}`,
          { $not: { $gt: limit - requested[resource] } },
        ]),
      );
      const changed = await ledgers.findOneAndUpdate(
        { _id: 'ledger', ...sufficientCapacity, [`holders.${attemptId}`]: { $exists: false } },
        {
          $inc: counted(keys, requested, 1),
          $set: { [`holders.${attemptId}`]: { generation, at, requested, keys } },
        },
      );
      if (changed) {
        return { held: true as const };
      }
      const { holders, usage } = await read();
      const holder = holders[attemptId];
      if (holder?.generation === generation) {
        return { held: true as const };
      }
      if (holder && holder.generation > generation) {
        return { held: false as const, blocked: [], usage };
      }
      // Held by an earlier generation that has ended: this one holds it once that is cleared.
      if (holder) {
        await release(attemptId, holder);
      }
      const blocked = holder ? [] : blockedBy(policies, usage, requested);
      if (blocked.length > 0) {
        return { held: false as const, blocked, usage };
      }
    }
    throw new Error(`The admission ledger kept changing during the reservation of ${attemptId}. Try again.`);
  }

  /** Takes a holder out of the ledger, once, however often it is called. */
  async function release(attemptId: string, { generation, keys, requested }: Omit<Holder, 'at'>): Promise<boolean> {
    const changed = await ledgers.findOneAndUpdate(
      { _id: 'ledger', [`holders.${attemptId}.generation`]: generation },
      { $inc: counted(keys, requested, -1), $unset: { [`holders.${attemptId}`]: '' } },
    );
    if (changed) {
      await prune(changed);
    }
    return changed !== undefined;
  }

  /** Forgets scopes without usage, now and then: every root task is one. */
  async function prune({ usage, holders }: Ledger): Promise<void> {
    const unused = Object.entries(usage).flatMap(([key, capacity]) =>
      resources.every((resource) => capacity[resource] === 0) ? [key] : [],
    );
    if (unused.length <= spareScopes + Object.keys(holders).length) {
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

  return { hold, release, read };
}

export type CapacityLedger = Awaited<ReturnType<typeof createCapacityLedger>>;

/** The increments that count a request in scopes, or take it back. */
const counted = (keys: string[], requested: Capacity, sign: 1 | -1): Record<string, number> =>
  Object.fromEntries(
    keys.flatMap((key) => resources.map((resource) => [`usage.${key}.${resource}`, sign * requested[resource]])),
  );
