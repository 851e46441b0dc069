import { z } from 'zod';
import { exactlyOneOf, slug, text, timestamp } from '../common';
import { flag, listPage, moment } from '../query';

/**
 * What is watched of the runs of an agent: how many it begins a day, how long they take (milliseconds), what they cost, the
 * tokens they use, and the part of them that succeeds.
 */
export const driftMetric = z.enum(['action_frequency', 'duration', 'cost', 'token_usage', 'success_rate']);
export type DriftMetric = z.infer<typeof driftMetric>;

export const driftSeverity = z.enum(['info', 'warning', 'critical']);

export const driftAlertId = z
  .string()
  .regex(/^drift_[0-9a-f]{24}$/, 'must look like drift_ and 24 hexadecimal digits')
  .meta({ id: 'DriftAlertId' });

/** An agent that does something else than it used to (specification 2, Drift alert). */
export const driftAlert = z
  .object({
    id: driftAlertId,
    agent: slug,
    metric: driftMetric,
    baseline: z.number(),
    current: z.number(),
    /** How many standard errors `current` is above the baseline. */
    deviation: z.number(),
    /** The deviation, either way, that the severity begins with. */
    threshold: z.number(),
    severity: driftSeverity,
    acknowledged: z.boolean(),
    acknowledgedBy: z.string().optional(),
    acknowledgedAt: timestamp.optional(),
    notes: z.string().optional(),
    detectedAt: timestamp,
  })
  .meta({ id: 'DriftAlert' });
export type DriftAlert = z.infer<typeof driftAlert>;

/** What an agent used to do. */
export const driftBaseline = z
  .object({
    agent: slug,
    metric: driftMetric,
    /** 0 while there are no runs. */
    mean: z.number(),
    standardDeviation: z.number(),
    sampleSize: z.number().int(),
    /** Runs before this do not count any more. */
    since: timestamp.optional(),
    updatedAt: timestamp,
  })
  .meta({ id: 'DriftBaseline' });
export type DriftBaseline = z.infer<typeof driftBaseline>;

/** What an agent does now; without `deviation` where there are too few runs for one. */
export const driftSnapshot = z
  .object({
    metric: driftMetric,
    current: z.number(),
    sampleSize: z.number().int(),
    deviation: z.number().optional(),
  })
  .meta({ id: 'DriftSnapshot' });
export type DriftSnapshot = z.infer<typeof driftSnapshot>;

/** `agentId` is another name of `agent` (gaps 2). */
const agentFields = { agent: slug.optional(), agentId: slug.optional() };
const oneName = exactlyOneOf('agent', 'agentId');

export const driftAnalyze = z
  .strictObject(agentFields)
  .refine(...oneName)
  .meta({ id: 'DriftAnalyze' });

export const driftReset = z
  .strictObject({ ...agentFields, metric: driftMetric.optional() })
  .refine(...oneName)
  .meta({ id: 'DriftReset' });

export const driftSummary = z
  .object({
    agent: slug,
    analyzedAt: timestamp,
    /** What is out of the ordinary, also where an earlier evaluation has raised it already. */
    alerts: z.array(driftAlert),
    baselines: z.array(driftBaseline),
    snapshots: z.array(driftSnapshot),
  })
  .meta({ id: 'DriftSummary' });

export const driftAcknowledge = z.strictObject({ notes: text(2_000).optional() }).meta({ id: 'DriftAcknowledge' });

export const driftAlertQuery = z
  .strictObject({
    agent: slug.optional(),
    metric: driftMetric.optional(),
    severity: driftSeverity.optional(),
    acknowledged: flag.optional(),
    since: moment.optional(),
    ...listPage(50, 500),
  })
  .meta({ id: 'DriftAlertQuery' });
export type DriftAlertQuery = z.output<typeof driftAlertQuery>;

export const driftBaselineQuery = z
  .strictObject({ agent: slug.optional(), metric: driftMetric.optional(), ...listPage(1000, 1000) })
  .meta({ id: 'DriftBaselineQuery' });
export type DriftBaselineQuery = z.output<typeof driftBaselineQuery>;
