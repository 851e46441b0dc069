import type { SkillProfile } from '../../../contracts/knowledge/skills/skill';
import { mismatchEntry } from '../../../domain/skills/scan';
import type { SkillContext } from './find-skill';

/** Writes the audit entry of a version that does what it does not declare, once. */
export async function recordMismatch(
  { audit }: Pick<SkillContext, 'audit'>,
  profile: SkillProfile,
  actor: string,
): Promise<void> {
  const entry = mismatchEntry(profile);
  if (entry) {
    await audit.record({ ...entry, actor });
  }
}
