import { z } from 'zod';
import { attemptId, slug, taskId, timestamp } from '../common';
import { period, periodFields } from '../period';
import { listPage } from '../query';

const count = z.number().int().min(0);
/** Between 0 and 1. */
const share = z.number().min(0).max(1);
const amount = z.number().min(0);

const filters = { ...periodFields, project: z.string().min(1).max(200).optional() };
export const metricsQuery = z.strictObject(filters).meta({ id: 'MetricsQuery' });
export type MetricsQuery = z.output<typeof metricsQuery>;

export const taskCostQuery = z.strictObject({ ...filters, limit: z.coerce.number().int().min(1).max(500).default(50) });
export const comparisonQuery = z.strictObject({
  ...filters,
  minRuns: z.coerce.number().int().min(1).max(1_000_000).default(3),
});
export const failedRunsQuery = z.strictObject({ ...filters, ...listPage(50, 200) });
export const velocityQuery = z.strictObject({
  project: filters.project,
  limit: z.coerce.number().int().min(1).max(100).default(10),
});

/**
 * Whether all events of the period were counted: `since` is when the counted ones begin. Older events have expired, or were
 * more than one answer counts.
 */
export const coverage = z
  .object({ complete: z.boolean(), since: timestamp.nullable() })
  .meta({ id: 'MetricsCoverage' });
export type Coverage = z.infer<typeof coverage>;

const about = { period, coverage };

/** Only so many agents are listed; the totals count all. */
export const maxListedAgents = 200;
/** How many agents are not listed beside those that are; 0 when all are. */
const otherAgents = count;

const runCounts = {
  /** Runs that have ended. */
  runs: count,
  successes: count,
  /** Ended, and not with success. */
  failures: count,
  /** Errors that were reported beside the end of a run. */
  errors: count,
  /** Successes of the runs; 0 without runs. */
  successRate: share,
  /** Failures of the runs; 0 without runs. */
  errorRate: share,
};
export const runMetrics = z
  .object({ ...about, ...runCounts, byAgent: z.array(z.object({ agent: slug, ...runCounts })), otherAgents })
  .meta({ id: 'RunMetrics' });
export type RunMetrics = z.infer<typeof runMetrics>;
export type RunCounts = Omit<RunMetrics['byAgent'][number], 'agent'>;

const tokenSums = {
  inputTokens: count,
  outputTokens: count,
  cacheTokens: count,
  /** Of input and output, or as reported. */
  totalTokens: count,
  /** In US dollars. */
  cost: amount,
};
export const tokenMetrics = z
  .object({
    ...about,
    ...tokenSums,
    /** Total tokens of a successful run; of runs that name their attempt. Zeros without any. */
    perSuccessfulRun: z.object({ runs: count, avg: amount, p50: amount, p95: amount }),
    byAgent: z.array(z.object({ agent: slug, ...tokenSums })),
    otherAgents,
    byModel: z.array(z.object({ model: z.string(), ...tokenSums })),
    /** How many models are not listed. */
    otherModels: count,
  })
  .meta({ id: 'TokenMetrics' });
export type TokenMetrics = z.infer<typeof tokenMetrics>;
export type TokenSums = Omit<TokenMetrics['byAgent'][number], 'agent'>;

const durations = { runs: count, avgMs: amount, p50Ms: amount, p95Ms: amount, maxMs: amount };
export const durationMetrics = z
  .object({
    ...about,
    ...durations,
    byAgent: z.array(z.object({ agent: slug, ...durations })),
    otherAgents,
    /** `exact`, or `estimated` with an error of at most one percent where there are very many runs. */
    percentiles: z.enum(['exact', 'estimated']),
  })
  .meta({ id: 'DurationMetrics' });
export type DurationMetrics = z.infer<typeof durationMetrics>;

export const taskMetrics = z
  .object({
    period,
    /** Tasks that are active now, by status and by the reason of those that are blocked. */
    total: count,
    byStatus: z.record(z.string(), count),
    byBlockedReason: z.record(z.string(), count),
    backlog: count,
    archived: count,
    /** Created in the period, wherever they are now. */
    created: count,
    /** Became done in the period, wherever they are now. */
    completed: count,
  })
  .meta({ id: 'TaskMetrics' });
export type TaskMetrics = z.infer<typeof taskMetrics>;

export const allMetrics = z
  .object({ period, tasks: taskMetrics, runs: runMetrics, tokens: tokenMetrics, duration: durationMetrics })
  .meta({ id: 'AllMetrics' });

export const failedRun = z
  .object({
    id: z.string(),
    taskId,
    attemptId: attemptId.optional(),
    agent: slug,
    project: z.string().optional(),
    /** When it ended. */
    timestamp,
    durationMs: amount,
    status: z.string().optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'FailedRun' });
export type FailedRun = z.infer<typeof failedRun>;

export const trendMetrics = z
  .object({
    ...about,
    unit: z.enum(['hour', 'day', 'week', 'month']),
    /** The parts of the period in its time zone, the first one first. */
    parts: z.array(
      z.object({
        /** The first day of the part, with the time of an hour. */
        label: z.string(),
        from: timestamp,
        to: timestamp,
        runs: count,
        successes: count,
        failures: count,
        totalTokens: count,
        cost: amount,
        avgDurationMs: amount,
        tasksCreated: count,
        tasksCompleted: count,
      }),
    ),
  })
  .meta({ id: 'TrendMetrics' });
export type TrendMetrics = z.infer<typeof trendMetrics>;

export const taskCostMetrics = z
  .object({
    ...about,
    totalCost: amount,
    /** Tasks whose runs reported tokens. */
    taskCount: count,
    averageCost: amount,
    /** The most expensive first. */
    tasks: z.array(
      z.object({
        taskId,
        /** Absent when the task is gone. */
        title: z.string().optional(),
        project: z.string().optional(),
        ...tokenSums,
      }),
    ),
  })
  .meta({ id: 'TaskCostMetrics' });
export type TaskCostMetrics = z.infer<typeof taskCostMetrics>;

const utilized = {
  /** Time of runs within the period; runs at the same time count each. */
  activeMs: count,
  /** How many runs there were at a time, on average. */
  utilization: amount,
  runs: count,
};
export const utilizationMetrics = z
  .object({
    ...about,
    periodMs: count,
    ...utilized,
    byAgent: z.array(z.object({ agent: slug, ...utilized })),
    otherAgents,
    /** The parts of the period, as in the trends. */
    parts: z.array(
      z.object({ label: z.string(), from: timestamp, to: timestamp, activeMs: count, utilization: amount }),
    ),
  })
  .meta({ id: 'UtilizationMetrics' });
export type UtilizationMetrics = z.infer<typeof utilizationMetrics>;

const compared = z.object({
  agent: slug,
  runs: count,
  successRate: share,
  avgDurationMs: amount,
  p95DurationMs: amount,
  tokensPerRun: amount,
  costPerRun: amount,
  totalCost: amount,
});
export const agentComparison = z
  .object({
    ...about,
    minRuns: count,
    /** Those with enough runs, the most reliable first. */
    agents: z.array(compared),
    /** Agents with fewer runs. */
    omitted: count,
    /** `null` without any agent. `cheapest` is of those whose cost is known. */
    best: z.object({ reliable: slug.nullable(), fastest: slug.nullable(), cheapest: slug.nullable() }),
  })
  .meta({ id: 'AgentComparison' });
export type AgentComparison = z.infer<typeof agentComparison>;

const sprintVelocity = z.object({
  sprint: z.string(),
  total: count,
  completed: count,
  /** When the last of its tasks became done. */
  lastCompletedAt: timestamp.nullable(),
});
export const velocityMetrics = z
  .object({
    /** The newest last; the current one is not among them. */
    sprints: z.array(sprintVelocity),
    /** Completed tasks of a listed sprint, on average. */
    averageVelocity: amount,
    /** The newer half of the listed sprints compared with the older one; 10 % is a difference. */
    trend: z.enum(['accelerating', 'steady', 'slowing']),
    /** The newest sprint that has tasks which are not done. */
    currentSprint: sprintVelocity.nullable(),
  })
  .meta({ id: 'VelocityMetrics' });
export type VelocityMetrics = z.infer<typeof velocityMetrics>;
