import type { TemplateFields } from '../../contracts/settings/template';
import type { Database } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';

/** Templates by id (specification 1, Mount list). */
export const createTemplateStore = (db: Database) => createConfiguredRecords<TemplateFields>(db, 'templates');
