import type { Collection } from '../../port/collection';
import { type CapacityLedger, idOf, type Ledger } from './capacity-ledger';
import type { ReservationRecord } from './reservation-record';

export interface CountingStores {
  ledger: CapacityLedger;
  /** Those of all workspaces. */
  reservations: Collection<ReservationRecord>;
}

/** How many documents are read at once. */
const batch = 500;
/** How many entries are added to the ledger until some are left to their reservations. */
const settledAt = 32;

/** The reservations of these ids that there are. */
export async function recordsOf(
  reservations: Collection<ReservationRecord>,
  ids: string[],
): Promise<Map<string, ReservationRecord>> {
  const records = new Map<string, ReservationRecord>();
  for (let from = 0; from < ids.length; from += batch) {
    for (const record of await reservations.find({ _id: { $in: ids.slice(from, from + batch) } })) {
      records.set(record._id, record);
    }
  }
  return records;
}

/** Whether this generation is counted for the reservation. */
export const isCountedFor = (record: ReservationRecord | undefined, generation: number): boolean =>
  record?.counted?.generation === generation;

/**
 * Leaves to the reservations what they have by now: counts that they carry, and releases, once they carry the count no more. A
 * crash in between leaves entries in the ledger, for the next call.
 *
 * @returns the ledger as it was, and the reservations of its open counts
 */
export async function settleLedger({
  ledger,
  reservations,
}: CountingStores): Promise<{ seen: Ledger; records: Map<string, ReservationRecord> }> {
  const seen = await ledger.read();
  const open = Object.keys(seen.counting);
  const records = await recordsOf(
    reservations,
    open.map((entry) => idOf(entry).id),
  );
  const counting = open.filter((entry) => {
    const { id, generation } = idOf(entry);
    return isCountedFor(records.get(id), generation);
  });
  const released = Object.keys(seen.released);
  const byGeneration = new Map<number, string[]>();
  for (const { id, generation } of released.map(idOf)) {
    byGeneration.set(generation, [...(byGeneration.get(generation) ?? []), id]);
  }
  for (const [generation, ids] of byGeneration) {
    await reservations.updateMany({ _id: { $in: ids }, 'counted.generation': generation }, { $unset: { counted: '' } });
  }
  if (counting.length + released.length > 0) {
    await ledger.forget(seen, { counting, released });
  }
  return { seen, records };
}

/** Keeps the ledger small: settles it, for all callers of this process at once, when many entries were added to it. */
export function createTidy(stores: CountingStores) {
  let settling: Promise<void> | undefined;
  /** Entries that could not be settled the last time: their reservations were being written. */
  let unsettled = 0;

  const sizeOf = ({ counting, released }: Ledger) => Object.keys(counting).length + Object.keys(released).length;

  async function settle(): Promise<void> {
    await settleLedger(stores);
    unsettled = sizeOf(await stores.ledger.read());
  }

  /** @param ledger what the caller has changed it to */
  return async (ledger: Ledger): Promise<void> => {
    const size = sizeOf(ledger);
    unsettled = Math.min(unsettled, size);
    if (size > unsettled + settledAt) {
      settling ??= settle().finally(() => (settling = undefined));
      await settling;
    }
  };
}
