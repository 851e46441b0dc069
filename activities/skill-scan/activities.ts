import { createHash } from 'node:crypto';
import { rulesVersion } from '../../domain/skills/analyze';
import { profileOf } from '../../domain/skills/judge';
import { mismatchEntry, scanOf } from '../../domain/skills/scan';
import type { Log } from '../../platform/log/log';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { LibrarySkill, SkillLibrary } from '../../stores/knowledge/skills/library';
import type { SkillScanStore } from '../../stores/knowledge/skills/skill-scan-store';
import type { AuditStore } from '../../stores/system/audit-store';

export interface SkillScanReport {
  skills: number;
  /** Those that had changed. */
  scanned: number;
  /** Those that are not to be installed. */
  dangerous: number;
}

const scannedBy = 'system:skill-scan';

export function createSkillScanActivities(deps: {
  skills: Pick<SkillLibrary, 'list'>;
  skillScans: Pick<SkillScanStore, 'add' | 'newestOf'>;
  audit: Pick<AuditStore, 'record'>;
  log: Log;
  now: () => Date;
}) {
  /** The same for each try of a scan that continues from the same newest one. */
  const idOf = ({ skillId, digest }: LibrarySkill, after: string): string =>
    `scan_${createHash('sha256').update(`${skillId}\n${digest}\n${rulesVersion}\n${after}`).digest('hex').slice(0, 12)}`;

  /** Scans a skill, unless its newest scan is of this version. The record comes before its audit, and both are written once. */
  async function scan(skill: LibrarySkill): Promise<boolean> {
    const newest = await deps.skillScans.newestOf(skill.path);
    const isCurrent = newest?.digest === skill.digest && newest.rulesVersion === rulesVersion;
    const scanId = isCurrent ? newest.id : idOf(skill, newest?.id ?? '');
    if (!isCurrent) {
      const made = { id: scanId, includeReferencedFiles: true, scannedAt: deps.now().toISOString(), scannedBy };
      await deps.skillScans.add(scanOf(skill, made), rulesVersion);
    }
    // Also of a scan whose try ended before its entry was written.
    await deps.audit.record({
      action: 'skill.scan',
      actor: scannedBy,
      resource: skill.skillId,
      details: { path: skill.path, digest: skill.digest, scanId },
      once: `skill-scan:${scanId}`,
    });
    const mismatch = mismatchEntry(profileOf(skill, skill.analysis));
    if (mismatch) {
      await deps.audit.record({ ...mismatch, actor: scannedBy });
    }
    return !isCurrent;
  }

  return {
    /** Scans every skill that has changed since its newest scan, or that was scanned by other rules. */
    async scanSkills(): Promise<SkillScanReport> {
      return withHeartbeat(async (signal) => {
        const { skills } = await deps.skills.list();
        const report: SkillScanReport = { skills: skills.length, scanned: 0, dangerous: 0 };
        for (const skill of skills) {
          if (signal.aborted) {
            break;
          }
          report.scanned += Number(await scan(skill));
          report.dangerous += Number(skill.analysis.findings.some(({ severity }) => severity === 'critical'));
        }
        if (report.scanned > 0) {
          deps.log.info(report, 'skills scanned');
        }
        return report;
      });
    },
  };
}

export type SkillScanActivities = ReturnType<typeof createSkillScanActivities>;
