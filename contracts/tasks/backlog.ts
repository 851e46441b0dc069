import { z } from 'zod';
import { taskId } from '../common';
import { listPage } from '../query';
import { bulkFailure } from './bulk';
import { taskCreate, type TaskQuery, taskQuery } from './task';

/** A list of the backlog always has pages. */
export const backlogQuery = z
  .strictObject({
    project: taskQuery.shape.project,
    type: taskQuery.shape.type,
    search: taskQuery.shape.q,
    page: z.coerce.number().int().min(1).max(100_000).default(1),
    ...listPage(100, 1000),
  })
  .meta({ id: 'BacklogQuery' });

/** The same question in the terms of a list of tasks. */
export const asTaskQuery = ({ search, ...rest }: z.infer<typeof backlogQuery>): TaskQuery => ({ ...rest, q: search });

/** What is planned, not begun: no status, and nothing that only a run needs. */
export const backlogCreate = taskCreate
  .pick({
    title: true,
    description: true,
    type: true,
    priority: true,
    project: true,
    sprint: true,
    agent: true,
    subtasks: true,
    blockedBy: true,
  })
  .meta({ id: 'BacklogCreate' });

export const backlogCount = z.object({ count: z.number().int() }).meta({ id: 'BacklogCount' });

export const bulkPromoted = z
  .object({ promoted: z.array(taskId), count: z.number().int(), failed: z.array(bulkFailure) })
  .meta({ id: 'BulkPromoted' });

export const bulkDemoted = z
  .object({ demoted: z.array(taskId), count: z.number().int(), failed: z.array(bulkFailure) })
  .meta({ id: 'BulkDemoted' });
