import { entryOf, type Ledger } from './capacity-ledger';
import type { CountingStores } from './ledger-settlement';
import { holderOf, type ReservationRecord } from './reservation-record';

/** How often a release is tried while others change the ledger. */
const tries = 20;

/**
 * Takes what an ended reservation is counted for out of the ledger, once, however often and late it is called.
 *
 * @param ended the reservation, read after `seen`
 * @param seen the ledger
 * @returns the ledger that this call has changed
 */
export async function releaseCount(
  { ledger, reservations }: CountingStores,
  { ended, seen }: { ended: ReservationRecord; seen: Ledger },
): Promise<Ledger | undefined> {
  let record: ReservationRecord | undefined = ended;
  let current = seen;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (!record?.counted || (record.state === 'active' && record.generation === record.counted.generation)) {
      return undefined;
    }
    const entry = entryOf(record._id, record.counted.generation);
    if (current.released[entry]) {
      return undefined;
    }
    const changed = await ledger.release(entry, record.counted, current.epoch);
    if (changed) {
      return changed;
    }
    current = await ledger.read();
    record = await reservations.get(ended._id);
  }
  throw new Error(`The admission ledger kept changing during the release of ${ended._id}. Try again.`);
}

/** The same, and of what an earlier version has counted for it. */
export async function releaseAll(
  stores: CountingStores,
  reservation: { ended: ReservationRecord; seen: Ledger },
): Promise<Ledger | undefined> {
  const { ended } = reservation;
  const changed = await releaseCount(stores, reservation);
  if (ended.counted?.generation !== ended.generation) {
    await stores.ledger.releaseHolder(ended._id, holderOf(ended));
  }
  return changed;
}
