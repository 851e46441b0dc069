import type { TemplateFields } from '../contracts/template';
import type { Database } from './collection';
import { createConfiguredRecords } from './configured-records';

/** Templates by id (specification 1, Mount list). */
export const createTemplateStore = (db: Database) => createConfiguredRecords<TemplateFields>(db, 'templates');

export type TemplateStore = Awaited<ReturnType<typeof createTemplateStore>>;
