import { z } from 'zod';
import { attemptId, replayed, slug, taskId, text, timestamp } from '../common';
import { listPage, moment } from '../query';
import { presentedSecret } from '../runs/callback-secret';

/** Longest duration that is stored: seven days, in milliseconds. */
export const maxDurationMs = 7 * 86_400_000;

const amount = z.number().int().min(0).max(1_000_000_000_000);
const money = z.number().min(0).max(1_000_000_000);
const durationMs = z
  .number()
  .min(0)
  .transform((value) => Math.min(Math.round(value), maxDurationMs));

const about = {
  taskId: taskId.optional(),
  attemptId: attemptId.optional(),
  agent: slug.optional(),
  project: text(200).optional(),
  /** When it happened; now when absent. */
  timestamp: timestamp.optional(),
};
const aboutRun = { ...about, taskId, agent: slug };

/** Small facts that belong to one type of event only. */
const details = z
  .record(text(64, 1), z.union([text(2000), z.number(), z.boolean(), z.null()]))
  .refine((fields) => Object.keys(fields).length <= 32, 'at most 32 fields')
  .optional();

export const otherTelemetryType = z.enum([
  'task.created',
  'task.status_changed',
  'task.archived',
  'task.restored',
  'run.error',
  'network.egress',
  'admission.tree_control',
]);

/** What callers may report (specification 1, Telemetry). */
export const telemetryInput = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('run.started'), ...aboutRun }),
    z.strictObject({
      type: z.literal('run.completed'),
      ...aboutRun,
      durationMs,
      success: z.boolean(),
      error: text(2000).optional(),
    }),
    z.strictObject({
      type: z.literal('run.tokens'),
      ...aboutRun,
      model: text(200, 1),
      inputTokens: amount,
      outputTokens: amount,
      cacheTokens: amount.optional(),
      cost: money.optional(),
    }),
    z.strictObject({ type: otherTelemetryType, ...about, error: text(2000).optional(), details }),
  ])
  .meta({ id: 'TelemetryInput' });
export type TelemetryInput = z.infer<typeof telemetryInput>;

export const telemetryType = z.enum(['run.started', 'run.completed', 'run.tokens', ...otherTelemetryType.options]);

export const telemetryEvent = z
  .object({
    id: z.string(),
    type: telemetryType,
    timestamp,
    taskId: taskId.optional(),
    attemptId: attemptId.optional(),
    agent: slug.optional(),
    project: z.string().optional(),
    model: z.string().optional(),
    inputTokens: z.number().optional(),
    outputTokens: z.number().optional(),
    cacheTokens: z.number().optional(),
    totalTokens: z.number().optional(),
    cost: z.number().optional(),
    durationMs: z.number().optional(),
    success: z.boolean().optional(),
    status: z.string().optional(),
    error: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'TelemetryEvent' });
export type TelemetryEvent = z.infer<typeof telemetryEvent>;

/** The most events of one bulk report. */
export const telemetryBulk = z
  .strictObject({ events: z.array(telemetryInput).min(1).max(500) })
  .meta({ id: 'TelemetryBulk' });
export const telemetryBulkResponse = z.object({ recorded: z.number().int(), ids: z.array(z.string()) });

const filters = {
  type: telemetryType.optional(),
  taskId: taskId.optional(),
  attemptId: attemptId.optional(),
  agent: slug.optional(),
  project: z.string().max(200).optional(),
  since: moment.optional(),
  until: moment.optional(),
};

export const telemetryFilter = z.strictObject(filters).meta({ id: 'TelemetryFilter' });
export type TelemetryFilter = z.infer<typeof telemetryFilter>;

/** Page by page, the newest first. */
const paging = {
  ...listPage(100, 1000),
  page: z.coerce.number().int().min(1).max(1000).default(1),
};
export const telemetryQuery = z.strictObject({ ...filters, ...paging }).meta({ id: 'TelemetryQuery' });
export const taskTelemetryQuery = z.strictObject({ type: telemetryType.optional(), ...paging });

export const telemetryExportQuery = z.strictObject({
  ...filters,
  format: z.enum(['csv', 'json']).default('json'),
  ...listPage(10_000, 10_000),
});

export const telemetryStatus = z
  .object({
    enabled: z.boolean(),
    retentionDays: z.number().int(),
    total: z.number().int(),
    byType: z.record(z.string(), z.number().int()),
    latest: timestamp.nullable(),
  })
  .meta({ id: 'TelemetryStatus' });

/** What a run has used so far. */
export const runUsage = z.object({
  inputTokens: z.number().int(),
  outputTokens: z.number().int(),
  cacheTokens: z.number().int(),
  cost: z.number(),
});
export type RunUsage = z.infer<typeof runUsage>;

/** `POST /api/agents/:taskId/tokens`: what exactly this attempt has used since its last report. */
export const tokenReport = z
  .strictObject({
    attemptId,
    inputTokens: amount,
    outputTokens: amount,
    totalTokens: amount.optional(),
    cost: money.optional(),
    model: text(200, 1).optional(),
    agent: slug.optional(),
    /** Of an attempt elsewhere. */
    callbackSecret: presentedSecret.optional(),
  })
  .refine(({ inputTokens, outputTokens, totalTokens = Infinity }) => totalTokens >= inputTokens + outputTokens, {
    path: ['totalTokens'],
    message: 'must not be less than inputTokens and outputTokens together',
  })
  .meta({ id: 'TokenReport' });
export type TokenReport = z.infer<typeof tokenReport>;

export const tokenReportResponse = z
  .object({ recorded: z.literal(true), eventId: z.string(), totalTokens: z.number().int(), replayed })
  .meta({ id: 'TokenReportAnswer' });
