import type { SharedResourceFields } from '../contracts/shared-resource';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';

/** What several projects use, by id (specification 1, Registries and analysis). */
export const createSharedResourceStore = (db: Database) =>
  createConfiguredRecords<SharedResourceFields>(db, 'shared-resources');

export type SharedResourceStore = Awaited<ReturnType<typeof createSharedResourceStore>>;
