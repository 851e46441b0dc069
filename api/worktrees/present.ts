import type { CleanupPreview, WorktreeInspection, WorktreeStatus } from '../../contracts/worktree';
import { presentManifest, type WorktreeRecord } from '../../stores/worktree-store';

/** What is said of a worktree whose host does not answer: nothing is known, so nothing is safe. */
const unseen = (record: WorktreeRecord, now: Date): WorktreeInspection => ({
  evidence: {
    complete: false,
    reasons: [`The host ${record.hostId} does not answer.`],
    exists: false,
    registered: false,
    headSha: null,
    branch: null,
    dirty: null,
    untracked: null,
    ahead: null,
    behind: null,
    unpushed: null,
    merged: null,
    operation: null,
    inspectedAt: now.toISOString(),
  },
  findings: [
    { code: 'incomplete-inspection', overridable: true, message: `The host ${record.hostId} does not answer.` },
  ],
});

/** A worktree as callers see it: manifest, what git says, and what a removal would meet. */
export function presentWorktree(
  record: WorktreeRecord,
  inspection: WorktreeInspection | null | undefined,
  now: Date,
): WorktreeStatus {
  const seen = inspection ?? unseen(record, now);
  const { remote, fetchedAt, source } = record.base;
  return {
    ...presentManifest(record),
    ahead: seen.evidence.ahead,
    behind: seen.evidence.behind,
    remoteFreshness: {
      remote,
      fetchedAt,
      ageSeconds: fetchedAt === null ? null : Math.max(0, Math.round((now.getTime() - Date.parse(fetchedAt)) / 1000)),
      stale: source === 'stale-local',
    },
    evidence: seen.evidence,
    cleanupPreview: presentCleanup(record, seen, now),
  };
}

/** What a removal would meet. */
export function presentCleanup(
  record: WorktreeRecord,
  inspection: WorktreeInspection | null | undefined,
  now: Date,
): CleanupPreview {
  const { findings } = inspection ?? unseen(record, now);
  return {
    taskId: record._id,
    manifestId: record.manifestId,
    path: record.path,
    branch: record.branch,
    safe: findings.length === 0,
    forceable: findings.every(({ overridable }) => overridable),
    expired: record.lease.expiresAt < now.toISOString(),
    findings,
  };
}
