import { z } from 'zod';
import { timestamp } from '../common';
import { listPage, moment, nextCursor } from '../query';
import { comment } from '../tasks/comment';
import { task } from '../tasks/task';
import { activity } from './activity';
import { broadcast } from './broadcast';

export const changeKind = z.enum(['tasks', 'comments', 'activity', 'broadcasts']);
export type ChangeKind = z.infer<typeof changeKind>;

export const changesQuery = z
  .strictObject({
    since: moment,
    /** Whole tasks instead of what a list shows of them. */
    full: z
      .enum(['true', 'false'])
      .default('false')
      .transform((value) => value === 'true'),
    types: z
      .string()
      .max(100)
      .transform((list) => list.split(',').map((kind) => kind.trim()))
      .pipe(z.array(changeKind).min(1))
      .default(changeKind.options),
    ...listPage(500, 1_000),
  })
  .meta({ id: 'ChangesQuery' });
export type ChangesQuery = z.output<typeof changesQuery>;

/** What a list shows of a task. */
export const taskSummary = task
  .pick({
    id: true,
    title: true,
    type: true,
    status: true,
    priority: true,
    project: true,
    sprint: true,
    agent: true,
    createdAt: true,
    updatedAt: true,
    revision: true,
  })
  .strip()
  .meta({ id: 'TaskSummary' });

const someTasks = z.array(z.union([task, taskSummary]));

/** What has changed after `since`. The next request has `until` instead of it. */
export const changes = z
  .object({
    since: timestamp,
    until: timestamp,
    changes: z.object({
      tasks: z.object({ created: someTasks, updated: someTasks }),
      comments: z.array(z.object({ taskId: z.string(), comment })),
      activity: z.array(activity),
      broadcasts: z.array(broadcast),
    }),
    summary: z.object({
      totalChanges: z.number().int(),
      breakdown: z.object({
        tasksCreated: z.number().int(),
        tasksUpdated: z.number().int(),
        comments: z.number().int(),
        activity: z.number().int(),
        broadcasts: z.number().int(),
      }),
      /** Whether there is more than one response has: `nextCursor` and `until` both continue there. */
      truncated: z.boolean(),
    }),
    nextCursor,
  })
  .meta({ id: 'Changes' });
export type Changes = z.infer<typeof changes>;
