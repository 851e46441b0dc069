import type { SharedResourceFields } from '../../contracts/knowledge/shared-resource';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';

/** What several projects use, by id (specification 1, Registries and analysis). */
export const createSharedResourceStore = (db: Database) =>
  createConfiguredRecords<SharedResourceFields>(db, 'shared-resources');

export type SharedResourceStore = Awaited<ReturnType<typeof createSharedResourceStore>>;
