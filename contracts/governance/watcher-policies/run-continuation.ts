import { z } from 'zod';
import { attemptId, taskId, timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';

/** A continuation of a run by the watcher: why it was begun, and what came of it. */
export const runContinuation = z
  .object({
    /** The run that ended. */
    sourceAttemptId: attemptId,
    taskId,
    /** How it ended. */
    status: z.string(),
    state: z.enum(['planned', 'dispatched', 'failed']),
    /** The run that continues it. */
    attemptId,
    plannedAt: timestamp,
    settledAt: timestamp.optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'RunContinuation' });
export type RunContinuation = z.infer<typeof runContinuation>;

export const runContinuationQuery = z
  .strictObject({ taskId: taskId.optional(), ...listPage(100, 500) })
  .meta({ id: 'RunContinuationQuery' });
export type RunContinuationQuery = z.output<typeof runContinuationQuery>;

export const runContinuationList = z
  .object({ continuations: z.array(runContinuation), nextCursor })
  .meta({ id: 'RunContinuationList' });
