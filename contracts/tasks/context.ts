import { z } from 'zod';
import { taskId, timestamp } from '../common';
import { observation } from './observation';
import { task, taskStatus } from './task';

const neighbour = z.object({ id: taskId, title: z.string(), status: taskStatus });

/** The context for beginning to work on a task. */
export const taskContext = z
  .object({
    taskId,
    ...task.pick({
      title: true,
      description: true,
      type: true,
      status: true,
      priority: true,
      project: true,
      sprint: true,
    }).shape,
    attachments: z.object({
      count: z.number().int(),
      /** Those with a text; the text itself when it exists. */
      documents: z.array(z.object({ filename: z.string(), text: z.string().optional() })),
      /** Where images are downloaded. */
      images: z.array(z.string()),
    }),
    created: timestamp,
    updated: timestamp,
    dependencies: z.object({ depends_on: z.array(neighbour), blocks: z.array(neighbour) }),
    observations: z.array(observation),
  })
  .meta({ id: 'TaskContext' });
export type TaskContext = z.infer<typeof taskContext>;
