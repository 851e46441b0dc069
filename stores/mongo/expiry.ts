import type { Collection as MongoCollection, Document } from 'mongodb';
import type { Stored } from '../port/collection';
import type { EntryDocument, FloorDocument } from './log';

/** Entries that one round of a sweep reads. */
const maxInRound = 500;

export interface Expiry {
  field: string;
  afterSeconds: number;
}

/** Timestamps are text, which MongoDB's own TTL indexes do not understand, so expiry is a delete by range. */
function expired({ afterSeconds }: Expiry): { $gte: string; $lt: string } {
  return { $gte: '', $lt: new Date(Date.now() - afterSeconds * 1000).toISOString() };
}

/** Removes the documents of a collection whose time is over. */
export async function sweepCollection(documents: MongoCollection<Stored & Document>, expire: Expiry): Promise<void> {
  await documents.deleteMany({ [expire.field]: expired(expire) });
}

/** Removes the entries of a log that have expired, and first prevents their numbers from being assigned again. */
export async function sweepLog(
  entries: MongoCollection<EntryDocument>,
  floors: MongoCollection<FloorDocument>,
  expire: Expiry,
): Promise<void> {
  const filter = { [`entry.${expire.field}`]: expired(expire) };
  for (;;) {
    const page = await entries.find(filter, { projection: { scope: 1, sequence: 1 }, limit: maxInRound }).toArray();
    if (page.length === 0) {
      return;
    }
    const highest = new Map<string, number>();
    for (const { scope, sequence } of page) {
      highest.set(scope, Math.max(sequence, highest.get(scope) ?? 0));
    }
    for (const [scope, sequence] of highest) {
      await floors.updateOne({ _id: scope }, { $max: { sequence } }, { upsert: true });
    }
    await entries.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } });
  }
}
