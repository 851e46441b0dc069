import { z } from 'zod';
import { exactlyOneOf, revision, text, timestamp } from '../common';
import { nextCursor } from '../query';

/**
 * A stretch of work on a task. One without `endTime` is running and has no duration yet. `duration` is in whole seconds,
 * `durationMs` in milliseconds. Loose: what a person added by hand is preserved.
 */
export const timeEntry = z
  .looseObject({
    id: z.string().max(64),
    startTime: timestamp,
    endTime: timestamp.optional(),
    duration: z.number().int().min(0).optional(),
    durationMs: z.number().int().min(0).optional(),
    description: text(1000).optional(),
    manual: z.boolean().optional(),
  })
  .meta({ id: 'TimeEntry' });
export type TimeEntry = z.infer<typeof timeEntry>;

/** `totalSeconds` is the sum of the durations of the entries; only the entry that `activeEntryId` names can be running. */
export const timeTracking = z
  .looseObject({
    entries: z.array(timeEntry).max(1000).default([]),
    totalSeconds: z.number().int().min(0).default(0),
    isRunning: z.boolean().default(false),
    activeEntryId: z.string().max(64).optional(),
  })
  .meta({ id: 'TimeTracking' });
export type TimeTracking = z.infer<typeof timeTracking>;

/** The longest entry: a year. */
const maxSeconds = 366 * 86_400;

/** Time to note down, in milliseconds or, as `duration`, in seconds. `expectedRevision` is the revision of the task. */
export const timeEntryCreate = z
  .strictObject({
    durationMs: z
      .number()
      .int()
      .min(1)
      .max(maxSeconds * 1000)
      .optional(),
    duration: z.number().int().min(1).max(maxSeconds).optional(),
    description: text(1000).optional(),
    expectedRevision: revision.optional(),
  })
  .refine(...exactlyOneOf('durationMs', 'duration'))
  .meta({ id: 'TimeEntryCreate' });

/** Time by project, the most first; tasks of no project are in `(No Project)`. `total` is in seconds and counts all. */
export const timeSummary = z
  .object({
    byProject: z.array(z.object({ project: z.string(), totalSeconds: z.number().int(), taskCount: z.number().int() })),
    total: z.number().int(),
    nextCursor,
  })
  .meta({ id: 'TimeSummary' });
export type TimeSummary = z.infer<typeof timeSummary>;
