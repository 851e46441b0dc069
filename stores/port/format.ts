import { version as release } from '../../package.json';
import type { Database } from './collection';
import { StaleRevisionError } from './errors';
import { openSettingsDocument } from './settings-document';

/** Which versions of the service can read the stores. */
export interface StoreFormat {
  /** The format of the documents: one more with each release that changes what earlier ones have written. */
  format: number;
  /** The earliest format whose code reads these documents, and does no harm to them. */
  readableFrom: number;
  /** The release that has these. */
  release: string;
}

/**
 * What this code writes. What adds collections, indexes or optional fields needs no other format. A change that the code of
 * `readableFrom` would misread raises both numbers; one that it passes over raises `format` alone.
 *
 * 2: the ledger of capacity leaves what is counted for a run to its reservation, where format 1 would never release it.
 */
export const ownFormat: StoreFormat = { format: 2, readableFrom: 2, release };

/** The stores were changed by a later version, in a way that this one cannot read. */
export class LaterFormatError extends Error {
  override readonly name = 'LaterFormatError';

  constructor(stored: StoreFormat, own: StoreFormat) {
    super(
      `The stores were changed by Runboard ${stored.release} (format ${stored.format}) and cannot be read by ${own.release} ` +
        `(format ${own.format}; ${stored.readableFrom} or later can). Start ${stored.release} or a later version, or restore a backup ` +
        'that an earlier version has made.',
    );
  }
}

/**
 * Checks that this version may use the stores, and records what it writes, so that an earlier version that would misread it does
 * not start. Changes nothing in stores of a later version.
 *
 * @throws LaterFormatError
 */
export async function claimFormat(db: Database, own: StoreFormat = ownFormat): Promise<void> {
  const document = await openSettingsDocument<StoreFormat>(db, 'store-format');
  for (;;) {
    const { value: stored, revision } = await document.read();
    if (stored && stored.readableFrom > own.format) {
      throw new LaterFormatError(stored, own);
    }
    if (stored && stored.format >= own.format) {
      return;
    }
    try {
      await document.replace(own, revision);
      return;
    } catch (error) {
      // Another process was first: what it has recorded counts.
      if (!(error instanceof StaleRevisionError)) {
        throw error;
      }
    }
  }
}
