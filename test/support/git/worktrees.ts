import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';

const begun = '2026-11-21T00:00:00.000Z';

/** The manifest of a worktree in the middle of a merge, unless `fields` differ. */
export const aWorktree = (taskId: string, fields: Partial<WorktreeRecord>): WorktreeRecord => ({
  _id: taskId,
  allocation: `host:/${taskId}`,
  schemaVersion: 'worktree-manifest/v1',
  manifestId: taskId,
  taskId,
  repository: 'shop',
  repositoryPath: '/shop',
  hostId: 'host',
  path: `/${taskId}`,
  branch: `board/${taskId}`,
  base: { branch: 'main', remote: null, sha: 'a'.repeat(40), source: 'local', fetchedAt: null },
  remoteFingerprint: null,
  lease: { leaseId: 'lease', ownerAttemptId: null, seconds: 60, expiresAt: '2026-11-21T00:09:00.000Z' },
  state: 'merging',
  operation: null,
  recoverable: null,
  history: [],
  createdAt: begun,
  updatedAt: begun,
  revision: 1,
  ...fields,
});
