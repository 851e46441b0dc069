import type { Database } from '../collection';
import { interceptedDatabase } from './intercepted-database';

/** Receives how long an operation of a store took, in milliseconds, whether it failed or not. */
export type RecordOperation = (
  ms: number,
  operation: { collection: string; operation: 'read' | 'write'; failed: boolean },
) => void;

/** The same database, with the time that each operation of its collections and logs takes. */
export const measuredDatabase = (database: Database, record: RecordOperation): Database =>
  interceptedDatabase(database, async ({ of, name: collection, operation }, work) => {
    if (of === 'blobs' || of === 'text-index') {
      return work();
    }
    const startedAt = performance.now();
    let failed = true;
    try {
      const result = await work();
      failed = false;
      return result;
    } finally {
      record(performance.now() - startedAt, { collection, operation, failed });
    }
  });
