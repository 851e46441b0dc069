import { z } from 'zod';
import { attemptId, digest, objectName, revision, slug, taskId, timestamp } from '../../common';
import { nextCursor } from '../../query';
import { pagination } from '../../tasks/task';
import { resolutionTarget, stopped } from '../conflict';

/**
 * Where a worktree is in its life. `ready`, `removed` and `failed` are at rest; everything else is in the middle of an
 * operation that continues by itself, also after a crash.
 */
export const worktreeState = z
  .enum([
    ...(['preparing', 'ready', 'rebasing', 'committing', 'merging', 'pushing', 'integrated'] as const),
    ...(['resolving', 'continuing', 'aborting', 'cleanup', 'removed', 'failed'] as const),
  ])
  .meta({ id: 'WorktreeState' });
export type WorktreeState = z.infer<typeof worktreeState>;

export const worktreeOperationKind = z.enum([
  ...(['create', 'adopt', 'rebase', 'commit', 'merge', 'cleanup'] as const),
  ...(['resolve', 'continue', 'abort'] as const),
]);
export type WorktreeOperationKind = z.infer<typeof worktreeOperationKind>;

/** Where the branch of a worktree begins, and how that commit was determined. */
export const worktreeBase = z.object({
  branch: z.string(),
  remote: z.string().nullable(),
  sha: objectName,
  /** `stale-local`: the remote did not respond and the caller accepted that. `local`: the repository has no remote. */
  source: z.enum(['remote', 'stale-local', 'local', 'legacy-adopted']),
  fetchedAt: timestamp.nullable(),
  acknowledgement: z.object({ reason: z.string(), actor: z.string(), at: timestamp }).optional(),
});

/** Who may use the worktree until when. While an attempt owns it, nothing else may change it. */
export const worktreeLease = z.object({
  leaseId: z.string(),
  ownerAttemptId: attemptId.nullable(),
  seconds: z.number().int(),
  expiresAt: timestamp,
});

/** An operation under way: what was decided before git was touched, so that any worker can finish it. */
export const worktreeOperation = z.object({
  id: z.string(),
  kind: worktreeOperationKind,
  actor: z.string(),
  startedAt: timestamp,
  /** The state to go back to when it is refused after all; `ready` when absent. */
  from: worktreeState.optional(),
  /** HEAD of the worktree when the operation began. */
  headSha: objectName.optional(),
  /** The commit it rebases onto, or merges into. */
  ontoSha: objectName.optional(),
  /** When `ontoSha` was fetched; null when the repository has no remote. */
  fetchedAt: timestamp.nullable().optional(),
  /** The merge commit, once there is one. */
  mergedSha: objectName.optional(),
  message: z.string().optional(),
  /** The message under which what is not committed is committed first. */
  commitMessage: z.string().optional(),
  force: z.boolean().optional(),
  reason: z.string().optional(),
  /** Of a rebase: whether a conflict is left in the worktree. */
  keepConflict: z.boolean().optional(),
  /** The file in conflict that is resolved, and how; `content` is the hash of its text. */
  resolution: z.object({ path: z.string(), target: resolutionTarget, content: digest.optional() }).optional(),
  /** What is continued or aborted. */
  stopped: stopped.optional(),
});
export type WorktreeOperation = z.infer<typeof worktreeOperation>;

/** A rebase that was stopped by a conflict, which was kept: it is to be continued or aborted. */
export const worktreeConflict = z.object({
  operationId: z.string(),
  actor: z.string(),
  since: timestamp,
  /** Where the branch was, and is until the end. */
  headSha: objectName,
  ontoSha: objectName,
  fetchedAt: timestamp.nullable(),
});
export type WorktreeConflict = z.infer<typeof worktreeConflict>;

/** One operation on a worktree, done or failed. The latest 50 are retained. */
export const worktreeHistoryEntry = z.object({
  at: timestamp,
  operationId: z.string(),
  kind: worktreeOperationKind,
  actor: z.string(),
  result: z.enum(['done', 'failed']),
  reason: z.string().optional(),
  code: z.string().optional(),
  /** The refusal, when it did not succeed. */
  refusal: z.object({ code: z.string(), message: z.string() }).optional(),
  headSha: objectName.optional(),
  baseSha: objectName.optional(),
  mergedSha: objectName.optional(),
  /** The ref of discarded commits and files. */
  keptRef: z.string().optional(),
});
export type WorktreeHistoryEntry = z.infer<typeof worktreeHistoryEntry>;

/** `worktree-manifest/v1`: Runboard's record of the worktree of a task, written before git changes anything. */
export const worktreeManifest = z
  .object({
    schemaVersion: z.literal('worktree-manifest/v1'),
    manifestId: z.string(),
    taskId,
    repository: slug,
    repositoryPath: z.string(),
    hostId: slug,
    path: z.string(),
    branch: z.string(),
    base: worktreeBase,
    /** SHA-256 of the remote's address without credentials; null without a remote. */
    remoteFingerprint: z.string().nullable(),
    lease: worktreeLease,
    state: worktreeState,
    operation: worktreeOperation.nullable(),
    /** While there is one, no run starts on the worktree. */
    conflict: worktreeConflict.nullable().optional(),
    /** Why an operation is stopped, and where; it continues when it is requested again. */
    recoverable: z.object({ code: z.string(), message: z.string(), path: z.string(), at: timestamp }).nullable(),
    history: z.array(worktreeHistoryEntry),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision,
  })
  .meta({ id: 'WorktreeManifest' });
export type WorktreeManifest = z.infer<typeof worktreeManifest>;

/** States in the middle of an operation. */
export const unsettledStates: WorktreeState[] = [
  'preparing',
  'rebasing',
  'committing',
  'merging',
  'pushing',
  'integrated',
  'resolving',
  'continuing',
  'aborting',
  'cleanup',
];

/** States in which there may be no files of the worktree. */
export const statesWithoutFiles: WorktreeState[] = ['preparing', 'cleanup', 'removed', 'failed'];

/** Something that speaks against removing a worktree. Those that are `overridable` yield to an administrator's force. */
export const cleanupFinding = z
  .object({
    code: z.enum([
      'dirty',
      'untracked',
      'unpushed',
      'unmerged',
      'held',
      'incomplete-inspection',
      'active-attempt',
      'attempt-lease',
      'branch-mismatch',
      'manifest-mismatch',
    ]),
    overridable: z.boolean(),
    message: z.string(),
    count: z.number().int().optional(),
    processes: z.array(z.object({ pid: z.number().int(), command: z.string() })).optional(),
  })
  .meta({ id: 'CleanupFinding' });
export type CleanupFinding = z.infer<typeof cleanupFinding>;

/** What git currently reports of the worktree; `null` for what could not be seen. */
export const worktreeEvidence = z
  .object({
    complete: z.boolean(),
    reasons: z.array(z.string()),
    exists: z.boolean(),
    registered: z.boolean(),
    headSha: objectName.nullable(),
    branch: z.string().nullable(),
    dirty: z.number().int().nullable(),
    untracked: z.number().int().nullable(),
    ahead: z.number().int().nullable(),
    behind: z.number().int().nullable(),
    unpushed: z.number().int().nullable(),
    merged: z.boolean().nullable(),
    /** A rebase, merge or the like that was begun in the worktree. */
    operation: z.string().nullable(),
    inspectedAt: timestamp,
  })
  .meta({ id: 'WorktreeEvidence' });
export type WorktreeEvidenceRecord = z.infer<typeof worktreeEvidence>;

/** What was seen of one worktree on its host, and what speaks against removing it. */
export interface WorktreeInspection {
  evidence: WorktreeEvidenceRecord;
  findings: CleanupFinding[];
}

export const cleanupPreview = z
  .object({
    taskId,
    manifestId: z.string(),
    path: z.string(),
    branch: z.string(),
    /** Whether a removal succeeds now. */
    safe: z.boolean(),
    /** Whether an administrator may force it. */
    forceable: z.boolean(),
    expired: z.boolean(),
    findings: z.array(cleanupFinding),
  })
  .meta({ id: 'WorktreeCleanupPreview' });
export type CleanupPreview = z.infer<typeof cleanupPreview>;

/** The response of every worktree endpoint: the manifest, git's report, and what a removal would meet. */
export const worktreeStatus = z
  .object({
    ...worktreeManifest.shape,
    ahead: z.number().int().nullable(),
    behind: z.number().int().nullable(),
    remoteFreshness: z.object({
      remote: z.string().nullable(),
      fetchedAt: timestamp.nullable(),
      ageSeconds: z.number().int().nullable(),
      stale: z.boolean(),
    }),
    evidence: worktreeEvidence,
    cleanupPreview,
  })
  .meta({ id: 'Worktree' });
export type WorktreeStatus = z.infer<typeof worktreeStatus>;

export const cleanupPreviewPage = z
  .object({ candidates: z.array(cleanupPreview), pagination, nextCursor })
  .meta({ id: 'WorktreeCleanupPreviewPage' });

export const editorOpened = z
  .object({ taskId, path: z.string(), hostId: slug, command: z.array(z.string()), pid: z.number().int() })
  .meta({ id: 'WorktreeOpened' });
export type EditorOpened = z.infer<typeof editorOpened>;
