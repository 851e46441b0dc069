import { z } from 'zod';
import { taskId, text } from '../common';
import { listPage } from '../query';
import { bulkFailure } from './bulk';
import { task } from './task';

export const sprintName = text(200, 1);

export const archived = z.object({ archived: z.literal(true), id: taskId }).meta({ id: 'Archived' });

/** What a task looked like before it was restored; the times and the name are those of its deletion, if it was one. */
export const restoreMetadata = z
  .object({
    restoredFromDelete: z.boolean(),
    deletedAt: z.string().optional(),
    deletedBy: z.string().optional(),
    purgeAfter: z.string().optional(),
  })
  .meta({ id: 'RestoreMetadata' });
export type RestoreMetadata = z.infer<typeof restoreMetadata>;

export const restoredTask = task.extend({ restoreMetadata }).meta({ id: 'RestoredTask' });

/** A page of suggestions. */
export const suggestionQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(100_000).default(1),
  ...listPage(50, 100),
});

/** A sprint whose active tasks are all done. `tasks` are the first 100 of them, `taskCount` counts all. */
export const archiveSuggestion = z
  .object({ sprint: z.string(), taskCount: z.number().int(), tasks: z.array(task) })
  .meta({ id: 'ArchiveSuggestion' });
export type ArchiveSuggestion = z.infer<typeof archiveSuggestion>;

export const sprintArchived = z
  .object({ archived: z.number().int(), taskIds: z.array(taskId), failed: z.array(bulkFailure) })
  .meta({ id: 'SprintArchived' });

export const bulkArchive = z.strictObject({ sprint: sprintName }).meta({ id: 'BulkArchive' });

export const bulkArchived = z
  .object({ archived: z.array(taskId), count: z.number().int(), failed: z.array(bulkFailure) })
  .meta({ id: 'BulkArchived' });
