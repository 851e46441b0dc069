import type { Collection } from '../../port/collection';
import { insertOnce } from '../../port/insert';
import { type Holder, idOf, type Ledger } from './capacity-ledger';
import { type CountingStores, isCountedFor, recordsOf, settleLedger } from './ledger-settlement';
import { releaseCount } from './release-count';
import { type ReservationRecord, tombstone } from './reservation-record';

/** How long a count may be without its reservation before that is taken for the trace of a crash, in milliseconds. */
const orphanAfterMs = 60_000;
/** How many ended reservations one round looks at. */
const batch = 500;

/** Clears counts without a reservation that stands: what crashes between two writes have left. Returns how many. */
export async function repairLedger(stores: CountingStores, now: Date): Promise<number> {
  const { ledger, reservations } = stores;
  const { seen, records } = await settleLedger(stores);
  let cleared = 0;
  for (const [entry, open] of Object.entries(seen.counting)) {
    const { id, generation } = idOf(entry);
    const record = records.get(id);
    if (isCountedFor(record, generation)) {
      continue;
    }
    if (
      (await isAbandoned(reservations, { id, record, count: { ...open, generation } }, now)) &&
      (await ledger.retract(entry))
    ) {
      cleared += 1;
    }
  }
  const held = await recordsOf(reservations, Object.keys(seen.holders));
  for (const [id, holder] of Object.entries(seen.holders)) {
    const record = held.get(id);
    // It was reserved again by the earlier version, which leaves the count of the generation before.
    if (record && (await releaseCount(stores, { ended: record, seen }))) {
      cleared += 1;
    }
    const stands = record?.state === 'active' && record.generation === holder.generation;
    if (stands && !isCountedFor(record, holder.generation)) {
      continue;
    }
    if (
      (await isAbandoned(reservations, { id, record, count: holder }, now)) &&
      (await ledger.releaseHolder(id, holder))
    ) {
      cleared += 1;
    }
  }
  return cleared + (await releaseEnded(stores, seen));
}

/** Whether no reservation will have this count any more; makes sure of it where its writer may be late. */
async function isAbandoned(
  reservations: Collection<ReservationRecord>,
  { id, record, count }: { id: string; record: ReservationRecord | undefined; count: Holder },
  now: Date,
): Promise<boolean> {
  if (record && (record.state === 'released' || record.generation >= count.generation)) {
    return true;
  }
  if (now.getTime() - Date.parse(count.at) < orphanAfterMs) {
    return false;
  }
  // A tombstone instead of what was never written, so that a late writer meets it and starts over.
  if (!record) {
    return insertOnce(reservations, tombstone(id, count, now.toISOString()));
  }
  const { generation } = count;
  const passed = await reservations.findOneAndUpdate(
    { _id: id, state: 'expired', generation: record.generation },
    { $set: { generation }, $inc: { revision: 1 } },
  );
  return passed !== undefined;
}

/** Takes out what ended reservations are still counted for: their processes died in between, or were of an earlier version. */
async function releaseEnded(stores: CountingStores, seen: Ledger): Promise<number> {
  const owing = await stores.reservations.find(
    { state: { $in: ['released', 'expired'] }, 'counted.generation': { $gte: 1 } },
    { limit: batch },
  );
  let released = 0;
  for (const ended of owing) {
    if (await releaseCount(stores, { ended, seen })) {
      released += 1;
    }
  }
  return released;
}
