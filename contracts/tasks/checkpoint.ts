import { z } from 'zod';
import { revision, text, timestamp } from '../common';

const step = z.number().int().min(0).max(1_000_000);
const resumeCount = z.number().int().min(0);

/**
 * A task's reference to its checkpoint. The state may be large, so it is in the stores under `id`; one that a person writes
 * into the file by hand is in `state`.
 */
export const taskCheckpointMark = z
  .looseObject({
    id: text(64).optional(),
    step: step.default(0),
    timestamp: timestamp.optional(),
    /** How often the task has gone to `in-progress` since there is one. */
    resumeCount: resumeCount.default(0),
    state: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'TaskCheckpointMark' });
export type TaskCheckpointMark = z.infer<typeof taskCheckpointMark>;

/** Where work on a task stopped, for the run that resumes it. */
export const taskCheckpoint = z
  .object({ step, state: z.record(z.string(), z.unknown()), timestamp, resumeCount })
  .meta({ id: 'TaskCheckpoint' });
export type TaskCheckpoint = z.infer<typeof taskCheckpoint>;

/** `expectedRevision` is the revision of the task. */
export const taskCheckpointSave = z
  .strictObject({
    state: z.record(z.string(), z.unknown()),
    step: step.optional(),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'TaskCheckpointSave' });

export const taskCheckpointSaved = z
  .object({ success: z.literal(true), checkpoint: taskCheckpoint })
  .meta({ id: 'TaskCheckpointSaved' });

/** `expired` when there was one that is too old. */
export const taskCheckpointResponse = z
  .object({ checkpoint: taskCheckpoint.nullable(), expired: z.literal(true).optional() })
  .meta({ id: 'TaskCheckpointAnswer' });
