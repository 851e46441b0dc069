import type { Collection } from '../../port/collection';
import { insertOnce } from '../../port/insert';
import type { CapacityLedger } from './capacity-ledger';
import { isEnded, type ReservationRecord, tombstone } from './reservation-record';

/** How many documents are read at once. */
const batch = 500;
/** How long a holder may be without its document before that is taken for the trace of a crash, in milliseconds. */
const orphanAfterMs = 60_000;

/** Clears holders without a reservation that stands: what crashes between the two writes have left. Returns how many. */
export async function repairLedger(
  { ledger, reservations }: { ledger: CapacityLedger; reservations: Collection<ReservationRecord> },
  now: Date,
): Promise<number> {
  let cleared = 0;
  const holders = Object.entries((await ledger.read()).holders);
  for (let from = 0; from < holders.length; from += batch) {
    const some = holders.slice(from, from + batch);
    const stored = await reservations.find({ _id: { $in: some.map(([id]) => id) } });
    const records = new Map(stored.map((record) => [record._id, record]));
    for (const [id, holder] of some) {
      const record = records.get(id);
      const stands = record?.state === 'active' && record.generation === holder.generation;
      const young = now.getTime() - Date.parse(holder.at) < orphanAfterMs;
      if (stands || (!isEnded(record, holder) && young)) {
        continue;
      }
      // A tombstone instead of a document that was never written, so that a late writer meets it and starts over.
      if (!record && !(await insertOnce(reservations, tombstone(id, holder, now.toISOString())))) {
        continue;
      }
      if (await ledger.release(id, holder)) {
        cleared += 1;
      }
    }
  }
  return cleared;
}
