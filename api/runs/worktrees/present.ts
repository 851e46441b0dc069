import type { CleanupPreview, WorktreeInspection, WorktreeStatus } from '../../../contracts/runs/worktrees/worktree';
import { presentManifest, type WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';

/** The view of a worktree whose host does not respond: without an inspection, nothing is safe. */
const unseen = (record: WorktreeRecord, now: Date): WorktreeInspection => ({
  evidence: {
    complete: false,
    reasons: [`The host ${record.hostId} does not respond.`],
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
    { code: 'incomplete-inspection', overridable: true, message: `The host ${record.hostId} does not respond.` },
  ],
});

/** A worktree as callers see it: manifest, git state, and the obstacles to a removal. */
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
