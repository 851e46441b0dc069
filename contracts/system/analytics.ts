import { z } from 'zod';
import { slug, taskId, timestamp } from '../common';
import { period, periodFields } from '../period';
import { taskStatus } from '../tasks/task';

const count = z.number().int().min(0);
const amount = z.number().min(0);
const name = z.string().min(1).max(200);

const filters = { ...periodFields, project: name.optional(), sprint: name.optional() };
export const analyticsQuery = z.strictObject(filters).meta({ id: 'AnalyticsQuery' });
export const timelineQuery = z
  .strictObject({ ...filters, agent: slug.optional(), limit: z.coerce.number().int().min(1).max(500).default(200) })
  .meta({ id: 'TimelineQuery' });
export type TimelineQuery = z.output<typeof timelineQuery>;

/** The most time entries of a task, the most changes of the concurrency, and the most tasks named at one of them. */
export const timelineLimits = { entries: 50, changes: 1_000, taskIds: 20 };

const concurrency = { maxConcurrency: count, averageConcurrency: amount };

export const timeline = z
  .object({
    period,
    /** Tasks that were worked on in the period, the first one first. */
    tasks: z.array(
      z.object({
        id: taskId,
        title: z.string(),
        project: z.string().optional(),
        sprint: z.string().optional(),
        agent: slug.optional(),
        status: taskStatus,
        /** When work on it began; it may be before the period. */
        startTime: timestamp,
        /** Absent while it is worked on. */
        endTime: timestamp.optional(),
        /** Time of work within the period. */
        durationSeconds: count,
        timeEntries: z.array(z.object({ startTime: timestamp, endTime: timestamp.optional() })),
      }),
    ),
    /** How many tasks were worked on from a moment on. */
    parallelism: z.array(z.object({ timestamp, concurrentTaskCount: count, taskIds: z.array(taskId) })),
    summary: z.object({
      totalTasks: count,
      ...concurrency,
      timelineStartTime: timestamp.nullable(),
      timelineEndTime: timestamp.nullable(),
    }),
    /** Whether there are more tasks or changes than are listed; the summary counts all. */
    truncated: z.boolean(),
  })
  .meta({ id: 'Timeline' });
export type Timeline = z.infer<typeof timeline>;

/** Mean times are in seconds, and `null` without a task that has both ends. */
const mean = amount.nullable();

export const boardMetrics = z
  .object({
    period,
    parallelism: z.object({ ...concurrency, minConcurrency: count }),
    throughput: z.object({ tasksCompleted: count, tasksCreated: count, averageCompletionTime: mean }),
    leadTime: z.object({ fromTodoToDone: mean, fromCreatedToStarted: mean, fromStartedToDone: mean }),
    agentUtilization: z.array(
      z.object({
        agent: slug,
        startTime: timestamp,
        endTime: timestamp,
        durationSeconds: count,
        tasksCompleted: count,
        totalTaskDurationSeconds: count,
      }),
    ),
    efficiency: z.object({
      /** Seconds of work on all tasks. */
      totalTrackedTime: count,
      totalTaskCount: count,
      averageTimePerTask: amount,
      /** The part of the period in which any task was worked on. */
      utilizationRate: z.number().min(0).max(1),
    }),
  })
  .meta({ id: 'BoardMetrics' });
export type BoardMetrics = z.infer<typeof boardMetrics>;

export const boardHealth = z
  .object({
    service: z.literal('analytics'),
    /** `warning` when a third of the unfinished tasks is blocked, or work has come to a halt on one. */
    status: z.enum(['ok', 'warning']),
    checkedAt: timestamp,
    unfinished: count,
    inProgress: count,
    blocked: count,
    /** In progress, and not changed for seven days. */
    stale: count,
    staleTaskIds: z.array(taskId),
  })
  .meta({ id: 'BoardHealth' });
export type BoardHealth = z.infer<typeof boardHealth>;
