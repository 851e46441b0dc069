import { z } from 'zod';
import { activity } from '../chat/activity';
import { taskId, timestamp } from '../common';
import { calendarDate, timeZone } from '../period';
import { taskPriority, taskStatus } from '../tasks/task';

const count = z.number().int().min(0);

/** A task as summaries show it. */
export const summarizedTask = z
  .object({
    id: taskId,
    title: z.string(),
    status: taskStatus,
    priority: taskPriority,
    project: z.string().optional(),
    completedAt: timestamp.optional(),
  })
  .meta({ id: 'SummarizedTask' });
export type SummarizedTask = z.infer<typeof summarizedTask>;

/** The most tasks of one list of a summary, and the most projects. */
export const maxSummarized = 100;

export const boardSummary = z
  .object({
    /** Active tasks. */
    total: count,
    byStatus: z.record(z.string(), count),
    /** Those with the most tasks; tasks of no project are in `(No Project)`. */
    byProject: z.record(z.string(), z.object({ total: count, done: count, inProgress: count })),
    /** Projects that are not listed. */
    otherProjects: count,
    /** Unfinished tasks of the priorities critical and high. */
    highPriority: z.array(summarizedTask),
  })
  .meta({ id: 'BoardSummary' });
export type BoardSummary = z.infer<typeof boardSummary>;

const hours = z.coerce.number().int().min(1).max(8_760).default(24);
export const recentQuery = z.strictObject({ hours });

export const recentSummary = z
  .object({
    completed: z.array(summarizedTask),
    highPriorityActive: z.array(summarizedTask),
    period: z.object({ hours: count, since: timestamp }),
  })
  .meta({ id: 'RecentSummary' });
export type RecentSummary = z.infer<typeof recentSummary>;

export const standupQuery = z.strictObject({
  /** Today in the time zone when absent. */
  date: calendarDate.refine((text) => text >= '1970' && text < '2200', 'must be of the years 1970 to 2199').optional(),
  tz: timeZone.default('UTC'),
  format: z.enum(['json', 'markdown', 'text']).default('json'),
});

export const standup = z
  .object({
    date: z.string(),
    completed: z.array(summarizedTask),
    /** As they are now, whatever the date; so are those that are blocked and upcoming. */
    inProgress: z.array(summarizedTask),
    blocked: z.array(summarizedTask),
    upcoming: z.array(summarizedTask),
    activity: z.array(activity),
    stats: z.object({
      tasksCompleted: count,
      /** Seconds of the day that time entries cover. */
      totalTimeTracked: count,
      /** Agents whose runs began or ended. */
      agentsActive: count,
      commentsAdded: count,
    }),
  })
  .meta({ id: 'Standup' });
export type Standup = z.infer<typeof standup>;
