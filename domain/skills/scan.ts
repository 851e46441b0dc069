import { createHash } from 'node:crypto';
import type { SkillProfile } from '../../contracts/knowledge/skills/skill';
import type { StoredScan } from '../../contracts/knowledge/skills/skill-scan';
import type { SkillAnalysis } from './analyze';
import { assess, profileOf } from './judge';

/** What was scanned. */
export interface Scanned extends Pick<StoredScan, 'skillId' | 'targetType' | 'path' | 'digest'> {
  analysis: SkillAnalysis;
}

type ScanMade = Pick<StoredScan, 'id' | 'includeReferencedFiles' | 'scannedAt' | 'scannedBy'>;

/** The profile of a target that may be no skill of its own. */
const profileOfTarget = ({ skillId, path, digest, analysis }: Scanned): SkillProfile =>
  profileOf({ skillId: skillId ?? '', path, digest }, analysis);

/** The record of a scan. */
export function scanOf(scanned: Scanned, made: ScanMade): StoredScan {
  const { skillId, targetType, path, digest, analysis } = scanned;
  const { files, findings, findingCount, name: skillName } = analysis;
  return {
    ...made,
    ...{ skillId, targetType, path, skillName, digest },
    ...assess(findings),
    findingCount,
    profileStatus: profileOfTarget(scanned).status,
    files,
    findings,
    findingsTruncated: findings.length < findingCount,
  };
}

/** The audit entry of a version that does what it does not declare; `undefined` when there is none to write. */
export function mismatchEntry(profile: SkillProfile) {
  if (profile.status !== 'mismatch') {
    return undefined;
  }
  const { skillId, name, digest, undeclaredObservedCapabilities: undeclared } = profile;
  const signature = createHash('sha256').update(undeclared.join('\n')).digest('hex').slice(0, 16);
  return {
    action: 'skill.mismatch',
    resource: skillId,
    details: { name, digest, undeclared, signature },
    once: `skill-mismatch:${skillId}:${digest}:${signature}`,
  };
}
