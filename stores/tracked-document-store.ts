import type { TrackedDocumentFields } from '../contracts/tracked-document';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';

/** Documents that somebody is to look at from time to time, by id (specification 1, Tracked document). */
export const createTrackedDocumentStore = (db: Database) =>
  createConfiguredRecords<TrackedDocumentFields>(db, 'tracked-documents');

export type TrackedDocumentStore = Awaited<ReturnType<typeof createTrackedDocumentStore>>;
