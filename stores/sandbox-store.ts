import type { SandboxPresetUpdate } from '../contracts/sandbox';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';

/** Sandbox presets by id (specification 2, Launch: `sandboxPresetId`). */
export const createSandboxStore = (db: Database) => createConfiguredRecords<SandboxPresetUpdate>(db, 'sandbox-presets');

export type SandboxStore = Awaited<ReturnType<typeof createSandboxStore>>;
