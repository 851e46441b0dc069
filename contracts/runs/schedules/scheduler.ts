import { z } from 'zod';
import { revision, slug, timestamp } from '../../common';
import { listPage, nextCursor } from '../../query';
import { scheduledLaunchId } from '../launch/scheduled-launch';
import { deliverableRunId, overlapPolicy, scheduledDeliverableId } from './scheduled-deliverable';

export const schedulerItemId = z.union([scheduledDeliverableId, scheduledLaunchId]);
const itemKind = z.enum(['scheduled-deliverable', 'scheduled-launch']);

/** The last run: of a deliverable its status, of a launch what the launch was answered. */
const lastRun = z.object({
  at: timestamp,
  status: z.string(),
  /** Of a scheduled deliverable the run, of a scheduled launch the attempt. */
  runId: z.string(),
  error: z.string().nullable(),
});

const fields = {
  id: schedulerItemId,
  kind: itemKind,
  name: z.string(),
  enabled: z.boolean(),
  /** In one line: a cron expression, an interval, or the name of a schedule. */
  schedule: z.string(),
  timezone: z.string(),
  overlapPolicy,
  catchUpMinutes: z.number().int(),
  agent: slug.nullable(),
  lastRun: lastRun.nullable(),
  revision,
};

export const schedulerItem = z.object(fields).meta({ id: 'SchedulerItem' });
export type SchedulerItem = z.infer<typeof schedulerItem>;

/** An item with what its Schedule in Temporal shows. */
export const schedulerItemDetails = z
  .object({
    ...fields,
    /** Whether there is a Schedule of this revision; workers make one of the record every minute. */
    synchronized: z.boolean(),
    /** When it starts next; of a paused one, when it would. */
    nextRuns: z.array(timestamp),
    /** What the Schedule did since it was created: started, missed for longer than its catch-up, skipped for an overlap. */
    counts: z.object({ started: z.number().int(), missed: z.number().int(), overlapping: z.number().int() }),
  })
  .meta({ id: 'SchedulerItemDetails' });
export type SchedulerItemDetails = z.infer<typeof schedulerItemDetails>;

export const schedulerEvent = z.object({ itemId: schedulerItemId, kind: itemKind, ...lastRun.shape });
export type SchedulerEvent = z.infer<typeof schedulerEvent>;

export const schedulerView = z
  .object({
    generatedAt: timestamp,
    /** Of all items, whichever page is read. */
    summary: z.object({
      total: z.number().int(),
      enabled: z.number().int(),
      paused: z.number().int(),
      byKind: z.record(itemKind, z.number().int()),
    }),
    items: z.array(schedulerItem),
    /** The newest runs of deliverables, and the last ones of the launches on this page; the newest first. */
    recentEvents: z.array(schedulerEvent),
    nextCursor,
  })
  .meta({ id: 'SchedulerView' });

export const schedulerQuery = z.strictObject(listPage(100, 500));

export const schedulerRun = z
  .object({
    id: schedulerItemId,
    kind: itemKind,
    /** Of a scheduled deliverable; a scheduled launch shows its attempt as the last run. */
    runId: deliverableRunId.nullable(),
  })
  .meta({ id: 'SchedulerRun' });

export const schedulerValidation = z
  .object({
    valid: z.boolean(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })),
    nextRuns: z.array(timestamp),
  })
  .meta({ id: 'SchedulerValidation' });

/** What of the missed runs was started. */
export const dueRuns = z
  .object({
    checked: z.number().int(),
    executed: z.number().int(),
    skipped: z.number().int(),
    failed: z.number().int(),
    overlapping: z.number().int(),
    events: z.array(
      z.object({
        itemId: scheduledDeliverableId,
        result: z.enum(['executed', 'skipped', 'failed', 'overlapping']),
        /** How many times were missed. */
        missed: z.number().int(),
        runId: deliverableRunId.nullable(),
        reason: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'DueRuns' });
export type DueRuns = z.infer<typeof dueRuns>;
