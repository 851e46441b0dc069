import type { ProfileWrite } from '../../contracts/settings/profile';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';

/** Profiles by id (specification 2, Launch: `profileId`). */
export const createProfileStore = (db: Database) => createConfiguredRecords<ProfileWrite>(db, 'profiles');

export type ProfileStore = Awaited<ReturnType<typeof createProfileStore>>;
