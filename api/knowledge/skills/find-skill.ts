import type { SkillException } from '../../../contracts/knowledge/skills/skill';
import { assertFound } from '../../../platform/errors/app-error';
import type { LibrarySkill } from '../../../stores/knowledge/skills/library';
import { ownFields } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';

/** What the routes of skills work with. */
export type SkillContext = Pick<
  ApiContext,
  'skills' | 'skillScans' | 'skillExceptions' | 'audit' | 'board' | 'workspaceId' | 'now'
>;

/** @throws AppError 404 */
export async function findSkill({ skills }: Pick<SkillContext, 'skills'>, skillId: string): Promise<LibrarySkill> {
  const skill = await skills.get(skillId);
  assertFound(skill, 'skill', skillId);
  return skill;
}

type StoredException = NonNullable<Awaited<ReturnType<SkillContext['skillExceptions']['get']>>>;

export const presentException = (record: StoredException): SkillException => ({
  skillId: record.id,
  ...ownFields(record),
});

export async function exceptionOf(
  { skillExceptions }: Pick<SkillContext, 'skillExceptions'>,
  skillId: string,
): Promise<SkillException | undefined> {
  const record = await skillExceptions.get(skillId);
  return record && presentException(record);
}
