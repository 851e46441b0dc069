import { z } from 'zod';
import { attemptId, revision, taskId, text, timestamp } from '../../common';
import { listPage } from '../../query';
import { launchRequest } from './launch';

export const scheduledLaunchId = z.string().regex(/^scheduled_[0-9a-f]{12}$/, 'must look like scheduled_0123456789ab');

/** Five fields, or a name for them: no seconds, which would launch too often. What the fields mean is Temporal's to read. */
const cron = text(200, 1).regex(
  /^(\S+( \S+){4}|@(hourly|daily|weekly|monthly|yearly))$/,
  'five fields, or @hourly, @daily, @weekly, @monthly or @yearly',
);

/** When it is launched: a cron expression (UTC), or every so many minutes. */
export const launchSpec = z
  .union([z.strictObject({ cron }), z.strictObject({ everyMinutes: z.number().int().min(1).max(525_600) })])
  .meta({ id: 'LaunchSpec' });
export type LaunchSpec = z.infer<typeof launchSpec>;

const fields = {
  taskId,
  launch: launchRequest.omit({ parentAttemptId: true, idempotencyKey: true }),
  spec: launchSpec,
  paused: z.boolean(),
};

/** What came of the last launch. */
export const scheduledOutcome = z.object({
  at: timestamp,
  status: z.enum(['running', 'queued', 'refused']),
  attemptId,
  code: z.string().nullable(),
  message: z.string().nullable(),
});
export type ScheduledOutcome = z.infer<typeof scheduledOutcome>;

export const scheduledLaunch = z
  .object({
    ...fields,
    id: scheduledLaunchId,
    createdBy: z.string(),
    lastOutcome: scheduledOutcome.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision,
  })
  .meta({ id: 'ScheduledLaunch' });
export type ScheduledLaunch = z.infer<typeof scheduledLaunch>;

export const scheduledLaunchCreate = z
  .strictObject({ ...fields, launch: fields.launch.default({}), paused: fields.paused.default(false) })
  .meta({ id: 'ScheduledLaunchCreate' });

/** Fields of the patch replace the existing ones, each as a whole. */
export const scheduledLaunchPatch = z
  .strictObject({ ...z.object(fields).partial().shape, expectedRevision: revision.optional() })
  .meta({ id: 'ScheduledLaunchPatch' });

export const scheduledLaunchQuery = z.strictObject(listPage(100, 1_000));
