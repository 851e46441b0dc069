import { z } from 'zod';
import { attemptId, objectName, taskId, timestamp } from '../common';
import { listPage, nextCursor } from '../query';

export const checkpointId = z
  .string()
  .regex(/^checkpoint_[A-Za-z0-9]{8,26}_[1-9][0-9]{0,3}$/, 'must look like checkpoint_ab12cd34_1')
  .meta({ id: 'WorkspaceCheckpointId' });

/** Who changed a path: the agent as it reported, a person through this service, or an unknown actor. */
export const attribution = z.enum(['agent', 'operator', 'unknown']);
export type Attribution = z.infer<typeof attribution>;

export const attributedChange = z.object({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted']),
  attribution,
  /** Whether another actor changed the file after the agent did. */
  conflict: z.boolean(),
});
export type AttributedChange = z.infer<typeof attributedChange>;

/** What a worktree was like: its files, its index, and where HEAD was. */
export const workspaceState = z.object({
  tree: objectName,
  indexTree: objectName,
  headSha: objectName,
  branch: z.string().nullable(),
});

/** The provider's own name of the current turn; a conversation can be rewound to it. */
export const turnCursor = z.object({ sessionId: z.string(), turnId: z.string() });
export type TurnCursor = z.infer<typeof turnCursor>;

/** `workspace-checkpoint/v1`: the worktree of a run at one moment, stored as git objects outside of every branch. */
export const workspaceCheckpoint = z
  .object({
    schemaVersion: z.literal('workspace-checkpoint/v1'),
    id: checkpointId,
    taskId,
    attemptId,
    /** 1, 2, 3 … in its attempt. */
    number: z.number().int().min(1),
    parentId: checkpointId.nullable(),
    turn: turnCursor.nullable(),
    /** The last event of the run when the worktree was read. */
    sequence: z.number().int().min(0),
    ref: z.string(),
    commit: objectName,
    ...workspaceState.shape,
    /** What changed since the parent, or since the attempt began; up to a thousand paths. */
    changes: z.array(attributedChange),
    truncated: z.boolean(),
    createdAt: timestamp,
  })
  .meta({ id: 'WorkspaceCheckpoint' });
export type WorkspaceCheckpoint = z.infer<typeof workspaceCheckpoint>;

export const checkpointQuery = z
  .strictObject({
    attemptId,
    afterNumber: z.coerce.number().int().min(0).default(0),
    ...listPage(50, 100),
  })
  .meta({ id: 'WorkspaceCheckpointQuery' });

/** `GET /api/agents/:taskId/workspace/checkpoints`: the oldest first. */
export const checkpointPage = z
  .object({ taskId, attemptId, checkpoints: z.array(workspaceCheckpoint), hasMore: z.boolean(), nextCursor })
  .meta({ id: 'WorkspaceCheckpointPage' });
