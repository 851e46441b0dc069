import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { SkillScanActivities, SkillScanReport } from '../../activities/skill-scan/activities';

const { scanSkills } = proxyActivities<SkillScanActivities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
  summary: 'scan skills that have changed',
});

/** Scans the skills whose files or rules have changed since. Started by a schedule; what it misses is due again. */
export async function skillScan(): Promise<SkillScanReport> {
  const report = await scanSkills();
  setCurrentDetails(`${report.scanned} of ${report.skills} skills were scanned, ${report.dangerous} are dangerous.`);
  return report;
}
