import type { SkillException } from '../../../contracts/knowledge/skills/skill';
import type { SkillInventoryItem } from '../../../contracts/knowledge/skills/skill-scan';
import { assess, decideInstall, exceptionState, profileOf } from '../../../domain/skills/judge';
import type { LibrarySkill } from '../../../stores/knowledge/skills/library';
import type { SkillScanStore } from '../../../stores/knowledge/skills/skill-scan-store';

/** A skill with the decision about it, but for its newest scan. */
export type JudgedSkill = Omit<SkillInventoryItem, 'lastScan'>;

/** What is known of a skill now, and whether it may be installed. */
export function judge(skill: LibrarySkill, exception: SkillException | undefined, now: Date): JudgedSkill {
  const { skillId, path, digest, analysis } = skill;
  const profile = profileOf(skill, analysis);
  const { severity, riskScore, recommendation } = assess(analysis.findings);
  const state = exception && exceptionState(exception, digest, now);
  return {
    ...{ skillId, name: analysis.name, description: analysis.description ?? null, path, digest },
    fileCount: analysis.files.length,
    declaredCapabilities: profile.declaredCapabilities,
    status: profile.status,
    ...{ severity, riskScore, recommendation },
    findingCount: analysis.findingCount,
    ...decideInstall(recommendation, profile, state === 'active'),
    exception: exception && state ? { ...exception, state } : null,
  };
}

/** The same with its newest stored scan. */
export async function withLastScan(
  skill: JudgedSkill,
  skillScans: Pick<SkillScanStore, 'newestOf'>,
): Promise<SkillInventoryItem> {
  const newest = await skillScans.newestOf(skill.path);
  return {
    ...skill,
    lastScan: newest ? { id: newest.id, scannedAt: newest.scannedAt, current: newest.digest === skill.digest } : null,
  };
}
