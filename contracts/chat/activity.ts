import { z } from 'zod';
import { taskId, text, timestamp } from '../common';
import { listPage, moment, nextCursor } from '../query';

/** What may have happened. Those that no route makes yet are here for clients that know them. */
export const activityType = z
  .enum([
    'task_created',
    'task_updated',
    'status_changed',
    'agent_started',
    'agent_stopped',
    'agent_completed',
    'agent_event',
    'task_archived',
    'task_restored',
    'task_deleted',
    'task_promoted',
    'task_demoted',
    'worktree_created',
    'worktree_merged',
    'project_archived',
    'sprint_archived',
    'template_applied',
    'comment_added',
    'comment_deleted',
    'deliverable_added',
    'deliverable_updated',
    'deliverable_deleted',
    'observation_added',
    'observation_deleted',
    'dependency_added',
    'dependency_removed',
    'membership_updated',
  ])
  .meta({ id: 'ActivityType' });
export type ActivityType = z.infer<typeof activityType>;

/** One action, mostly on a task, and its actor. */
export const activity = z
  .object({
    id: z.string(),
    type: activityType,
    /** Absent where it was not about a task, as a change of a membership. */
    taskId: taskId.optional(),
    taskTitle: z.string().optional(),
    /** The agent that did it, where it was one. */
    agent: z.string().optional(),
    actor: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
    timestamp,
  })
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof activity>;

export const activityQuery = z
  .strictObject({
    ...listPage(50, 500),
    /** 0, or absent: the newest; 1 and so on: that page. */
    page: z.coerce.number().int().min(0).max(10_000).default(0),
    agent: text(100, 1).optional(),
    type: activityType.optional(),
    taskId: taskId.optional(),
    since: moment.optional(),
    until: moment.optional(),
  })
  .meta({ id: 'ActivityQuery' });
export type ActivityQuery = z.output<typeof activityQuery>;

/** The values to filter by. */
export const activityFilters = z
  .object({ agents: z.array(z.string()), types: z.array(activityType), nextCursor })
  .meta({ id: 'ActivityFilters' });
