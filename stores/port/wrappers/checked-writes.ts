import type { Database } from '../collection';
import { interceptedDatabase } from './intercepted-database';

/**
 * The same database, with a check right before each write.
 *
 * @param assertAllowed throws where the write must not be made
 */
export const checkedWrites = (database: Database, assertAllowed: () => void): Database =>
  interceptedDatabase(database, async ({ operation }, work) => {
    if (operation === 'write') {
      assertAllowed();
    }
    return work();
  });
