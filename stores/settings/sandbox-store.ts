import type { SandboxPresetUpdate } from '../../contracts/settings/sandbox';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';

/** Sandbox presets by id (specification 2, Launch: `sandboxPresetId`). */
export const createSandboxStore = (db: Database) => createConfiguredRecords<SandboxPresetUpdate>(db, 'sandbox-presets');

export type SandboxStore = Awaited<ReturnType<typeof createSandboxStore>>;
