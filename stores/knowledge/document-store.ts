import type { TrackedDocumentFields } from '../../contracts/knowledge/document';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';

/** Documents that are reviewed from time to time, by id (specification 1, Tracked document). */
export const createTrackedDocumentStore = (db: Database) =>
  createConfiguredRecords<TrackedDocumentFields>(db, 'tracked-documents');
