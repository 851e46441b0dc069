import { z } from 'zod';
import { attemptId, clearable, filePath, revision, slug, taskId, text, timestamp } from '../../common';
import { flag, listPage } from '../../query';
import { cronExpression, timezoneName } from '../../schedule-times';

/** The most scheduled deliverables of a workspace. */
export const maxScheduledDeliverables = 500;
/** How long runs are stored after their start, in days. */
export const runRetentionDays = 90;

export const scheduledDeliverableId = z
  .string()
  .regex(/^recurring_[0-9a-f]{12}$/, 'must look like recurring_0123456789ab');
export const deliverableRunId = z
  .string()
  .regex(/^recurring_run_[0-9a-f]{12}$/, 'must look like recurring_run_0123456789ab');

/** `custom` is by its cron expression. */
export const deliverableSchedule = z.enum(['daily', 'weekly', 'biweekly', 'monthly', 'custom']);

/** What a due run does while one is under way: nothing, wait for its end (one of them), or run beside it. */
export const overlapPolicy = z.enum(['skip', 'buffer-one', 'allow-all']);

const fields = {
  name: text(150, 1),
  description: text(20_000),
  schedule: deliverableSchedule,
  cronExpr: cronExpression,
  /** An IANA name. */
  timezone: timezoneName,
  overlapPolicy,
  /** What was missed for longer is not made good. */
  catchUpMinutes: z.number().int().min(1).max(10_080),
  /** The schedule in words, for people. */
  scheduleDescription: text(500),
  /** Launched on the task of each run. */
  agent: slug,
  /** The file that a run is to write, in the repository of its task. */
  outputPath: filePath.max(500),
  project: text(200, 1),
  repo: slug,
  tags: z.array(slug).max(20),
  enabled: z.boolean(),
};

/** Only `custom` has a cron expression, and only times of UTC are counted in fortnights. */
interface Timing {
  schedule?: z.infer<typeof deliverableSchedule> | undefined;
  cronExpr?: string | undefined;
  timezone?: string | undefined;
}

/** What is wrong with the times of a whole record. */
export function timingIssue({ schedule, cronExpr, timezone }: Timing): { path: string; message: string } | undefined {
  if (schedule === 'custom' && cronExpr === undefined) {
    return { path: 'cronExpr', message: 'is required with the schedule custom' };
  }
  if (schedule !== 'custom' && cronExpr !== undefined) {
    return { path: 'cronExpr', message: 'belongs to the schedule custom' };
  }
  if (schedule === 'biweekly' && timezone !== undefined && timezone !== 'UTC') {
    return { path: 'timezone', message: 'must be UTC with the schedule biweekly' };
  }
  return undefined;
}

export const deliverableRunStatus = z.enum(['running', 'due', 'success', 'failed', 'skipped']);
export type DeliverableRunStatus = z.infer<typeof deliverableRunStatus>;
export const reportedStatus = deliverableRunStatus.extract(['success', 'failed', 'skipped']);

/** What its reporter adds: names with values, none of them nested. */
const snapshotMetadata = z
  .record(
    z.string().regex(/^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/, 'letters, digits, dot, dash and underscore'),
    z.union([text(1_000), z.number(), z.boolean(), z.null()]),
  )
  .refine((metadata) => Object.keys(metadata).length <= 50, 'has at most 50 entries');

const reported = {
  outputFile: text(500, 1),
  summary: text(10_000),
  durationMs: z.number().int().min(0).max(31_536_000_000),
  error: text(2_000),
  /** Ids of where the reporter works; they are stored as they are. */
  sourceRunId: text(100, 1),
  workflowId: text(200, 1),
  snapshotMetadata,
};

/** One run: by the schedule, by a caller now, or one that a caller reports. */
export const deliverableRun = z
  .object({
    id: deliverableRunId,
    deliverableId: scheduledDeliverableId,
    trigger: z.enum(['schedule', 'manual', 'catch-up', 'report']),
    /** `running`: an agent works on the task; `due`: a person takes the task and reports it. */
    status: deliverableRunStatus,
    startedAt: timestamp,
    startedBy: z.string(),
    endedAt: timestamp.nullable(),
    taskId: taskId.nullable(),
    /** The last attempt of the agent. */
    attemptId: attemptId.nullable(),
    reportedBy: z.string().nullable(),
    ...z.object(reported).partial().shape,
  })
  .meta({ id: 'ScheduledDeliverableRun' });
export type DeliverableRun = z.infer<typeof deliverableRun>;

export const deliverableRunReport = z
  .strictObject({
    /** A run that is due, which this ends; absent: the report is of a run of its own. */
    runId: deliverableRunId.optional(),
    status: reportedStatus,
    ...z.object(reported).partial().shape,
  })
  .meta({ id: 'ScheduledDeliverableReport' });

const optional = {
  cronExpr: fields.cronExpr.optional(),
  scheduleDescription: fields.scheduleDescription.optional(),
  agent: fields.agent.optional(),
  outputPath: fields.outputPath.optional(),
  project: fields.project.optional(),
  repo: fields.repo.optional(),
};

export const scheduledDeliverable = z
  .object({
    ...fields,
    ...optional,
    id: scheduledDeliverableId,
    createdBy: z.string(),
    /** Whose runs they are: agents are launched for them. */
    updatedBy: z.string(),
    lastRun: deliverableRun.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
    revision,
  })
  .meta({ id: 'ScheduledDeliverable' });
export type ScheduledDeliverable = z.infer<typeof scheduledDeliverable>;

export const scheduledDeliverableCreate = z
  .strictObject({
    ...fields,
    ...optional,
    description: fields.description.default(''),
    timezone: fields.timezone.default('UTC'),
    overlapPolicy: fields.overlapPolicy.default('skip'),
    catchUpMinutes: fields.catchUpMinutes.default(10),
    tags: fields.tags.default([]),
    enabled: fields.enabled.default(true),
  })
  .meta({ id: 'ScheduledDeliverableCreate' });

/** Fields of the patch replace the existing ones, each as a whole. */
export const scheduledDeliverablePatch = z
  .strictObject({
    ...z.object(fields).partial().shape,
    cronExpr: clearable(fields.cronExpr),
    scheduleDescription: clearable(fields.scheduleDescription),
    agent: clearable(fields.agent),
    outputPath: clearable(fields.outputPath),
    project: clearable(fields.project),
    repo: clearable(fields.repo),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'ScheduledDeliverablePatch' });

export const scheduledDeliverableQuery = z.strictObject({
  enabled: flag.optional(),
  agent: slug.optional(),
  tag: slug.optional(),
  ...listPage(100, 500),
});

export const deliverableRunQuery = z.strictObject(listPage(50, 500));
