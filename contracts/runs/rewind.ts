import { z } from 'zod';
import { attemptId, digest, replayed, taskId, text, timestamp } from '../common';
import { runApproval } from './approval';
import { attribution, checkpointId, turnCursor, workspaceState } from './checkpoint';
import { idempotencyKey } from './launch/launch';

/**
 * The decision on a path (docs/use/runs/rewind.md): `accept` rewinds file and index entry; `reject` retains the file and rewinds
 * the index entry; `leave-untouched` retains both.
 */
export const rewindDecision = z.enum(['accept', 'reject', 'leave-untouched']);
export type RewindDecision = z.infer<typeof rewindDecision>;

/** The most paths that are decided about one by one. */
const maxPaths = 1_000;

export const rewindRequest = z
  .strictObject({
    attemptId,
    targetCheckpointId: checkpointId,
    descendantCheckpointId: checkpointId,
    requestId: idempotencyKey.optional(),
    resolutions: z
      .array(z.strictObject({ path: text(4_096, 1), decision: rewindDecision }))
      .max(maxPaths)
      .refine((all) => new Set(all.map(({ path }) => path)).size === all.length, 'each path once')
      .default([]),
  })
  .meta({ id: 'WorkspaceRewindRequest' });
export type RewindRequest = z.infer<typeof rewindRequest>;

export const rewindId = z.string().regex(/^rewind_[0-9a-f]{24}$/);

const rewoundPath = z.object({
  path: z.string(),
  decision: rewindDecision,
  attribution,
  conflict: z.boolean(),
});
export type RewoundPath = z.infer<typeof rewoundPath>;

/** `workspace-rewind/v1`: a worktree of a running attempt is reset to a checkpoint. */
export const workspaceRewind = z
  .object({
    schemaVersion: z.literal('workspace-rewind/v1'),
    id: rewindId,
    taskId,
    attemptId,
    requestId: z.string(),
    requestDigest: digest,
    targetCheckpointId: checkpointId,
    descendantCheckpointId: checkpointId,
    state: z.enum(['planned', 'committing', 'committed', 'failed']),
    approvalId: z.string().nullable(),
    /** Exactly what the worktree was when this was planned: it has to be that still when it is committed. */
    before: workspaceState,
    target: workspaceState,
    turn: turnCursor,
    /** Up to a thousand; `pathCount` are different. */
    paths: z.array(rewoundPath),
    pathCount: z.number().int(),
    /** The ref of the worktree's state before. */
    keptRef: z.string().nullable(),
    /** The checkpoint of what came of it. */
    checkpointId: checkpointId.nullable(),
    /** Paths that were changed meanwhile. */
    leftBehind: z.array(z.string()),
    /** Whether the agent was notified that its conversation continues from the earlier turn. */
    // eslint-disable-next-line id-denylist -- a public field, also of stored rewinds
    thread: z.object({ told: z.boolean(), reason: z.string().optional() }).nullable(),
    error: z.string().optional(),
    createdBy: z.string(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'WorkspaceRewind' });
export type WorkspaceRewind = z.infer<typeof workspaceRewind>;

export const rewindResponse = z
  .object({
    status: z.enum(['approval-required', 'committed']),
    rewind: workspaceRewind,
    approval: runApproval.optional(),
    replayed,
  })
  .meta({ id: 'WorkspaceRewindAnswer' });
