import { z } from 'zod';
import { exactlyOneOf, taskId } from '../common';
import { taskPatch, taskStatus } from './task';

/** Most tasks of one bulk request. */
export const maxBulkTasks = 100;

const taskIds = z.array(taskId).min(1).max(maxBulkTasks);

/** Which tasks a bulk request is about; `ids` is another name of `taskIds`. */
export const taskSelection = z
  .strictObject({ taskIds: taskIds.optional(), ids: taskIds.optional() })
  .refine(...exactlyOneOf('taskIds', 'ids'))
  .meta({ id: 'TaskSelection' });

/** A task that was not changed, and why. The others were not stopped by it. */
export const bulkFailure = z.object({ id: z.string(), error: z.string() }).meta({ id: 'BulkFailure' });
export type BulkFailure = z.infer<typeof bulkFailure>;

/** `updates` is what a patch takes; `status` is the short form for the most common one. */
export const bulkUpdate = z
  .strictObject({
    taskIds: taskIds.optional(),
    ids: taskIds.optional(),
    updates: taskPatch.omit({ expectedRevision: true }).optional(),
    status: taskStatus.optional(),
  })
  .refine(...exactlyOneOf('taskIds', 'ids'))
  .refine(...exactlyOneOf('updates', 'status'))
  .meta({ id: 'BulkUpdate' });
export type BulkUpdate = z.infer<typeof bulkUpdate>;

export const bulkUpdated = z
  .object({ updated: z.array(taskId), count: z.number().int(), failed: z.array(bulkFailure) })
  .meta({ id: 'BulkUpdated' });

const order = z.array(taskId).min(1).max(1000);

/** The tasks of a column or a list in the order they should have; `orderedIds` is another name of `taskIds`. */
export const taskOrder = z
  .strictObject({ taskIds: order.optional(), orderedIds: order.optional() })
  .refine(...exactlyOneOf('taskIds', 'orderedIds'))
  .meta({ id: 'TaskOrder' });

export const reordered = z.object({ updated: z.number().int() }).meta({ id: 'Reordered' });
