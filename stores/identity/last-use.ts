import type { Filter, UpdateFilter } from 'mongodb';
import type { Collection, Stored } from '../port/collection';

/** How precisely the last use of a credential is recorded, in milliseconds. */
export const lastUsePrecisionMs = 60_000;

interface Used extends Stored {
  lastUsedAt?: string;
}

/** Records a use, at most once a minute, whichever process the uses are in. The request does not depend on it. */
export async function recordUse<T extends Used>(
  collection: Collection<T>,
  { _id, lastUsedAt }: Used,
  at: Date,
): Promise<void> {
  if (lastUsedAt !== undefined && at.getTime() - Date.parse(lastUsedAt) < lastUsePrecisionMs) {
    return;
  }
  const unchanged = { _id, lastUsedAt: lastUsedAt ?? { $exists: false } } as Filter<T>;
  const used = { $set: { lastUsedAt: at.toISOString() } } as unknown as UpdateFilter<T>;
  // A store that cannot be written now is no reason to refuse what only reads.
  await collection.findOneAndUpdate(unchanged, used).catch(() => undefined);
}
