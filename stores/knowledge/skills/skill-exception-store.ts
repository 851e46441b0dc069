import type { SkillException } from '../../../contracts/knowledge/skills/skill';
import type { Database } from '../../port/collection';
import { createConfiguredRecords } from '../../port/configured-records';

export type SkillExceptionFields = Omit<SkillException, 'skillId'>;

/** Reviewed exceptions, by the id of their skill: a later one replaces the one before. */
export const createSkillExceptionStore = (db: Database) =>
  createConfiguredRecords<SkillExceptionFields>(db, 'skill-exceptions');
