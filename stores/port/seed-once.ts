import type { Database } from './collection';
import type { Recorded } from './configured-records';
import { StaleRevisionError } from './errors';
import { insertOnce } from './insert';

interface Seeds<F> {
  create(id: string, fields: F): Promise<F & Recorded>;
}

/**
 * Makes the records that there are from the beginning, once for all processes and for ever: what people change or delete
 * afterwards stays so. After a crash in the middle, the next start makes the rest.
 */
export async function seedOnce<F>(
  db: Database,
  name: string,
  { records, seeds }: { records: Seeds<F>; seeds: ReadonlyMap<string, F> },
): Promise<void> {
  const done = await db.collection<{ _id: string }>({ name: 'seeded' });
  if (await done.get(name)) {
    return;
  }
  for (const [id, fields] of seeds) {
    try {
      await records.create(id, fields);
    } catch (error) {
      // Another process was first, or an earlier start that did not come to its end.
      if (!(error instanceof StaleRevisionError)) {
        throw error;
      }
    }
  }
  await insertOnce(done, { _id: name });
}
