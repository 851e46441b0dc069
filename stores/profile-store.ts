import type { ProfileWrite } from '../contracts/profile';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';

/** Profiles by id (specification 2, Launch: `profileId`). */
export const createProfileStore = (db: Database) => createConfiguredRecords<ProfileWrite>(db, 'profiles');

export type ProfileStore = Awaited<ReturnType<typeof createProfileStore>>;
