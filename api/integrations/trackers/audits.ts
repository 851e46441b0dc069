import type { TrackerAudit } from '../../../contracts/integrations/trackers/profile';
import type { AuditEntry } from '../../../contracts/system/audit';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const optional = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** An entry of the audit log about a tracker, of which readers of settings see no more than this. */
export const presentAudit = ({ sequence, timestamp, actor, details = {} }: AuditEntry): TrackerAudit => ({
  sequence,
  timestamp,
  actor,
  operation: textOf(details.operation),
  provider: textOf(details.provider),
  project: textOf(details.project),
  outcome: textOf(details.outcome),
  profileId: optional(details.profileId),
  taskId: optional(details.taskId),
  workItemId: optional(details.workItemId),
  approvedBy: optional(details.approvedBy),
});
