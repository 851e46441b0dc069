import { z } from 'zod';
import { exactlyOneOf, revision, taskId } from '../common';
import { nextCursor } from '../query';
import { type Task, task, taskStatus } from './task';

/**
 * A dependency to add, in one of three forms: `targetId` with its `type`, or the id under the name of its side.
 * `blocked-by` and `depends_on` make the task wait for the other one, `blocks` the other one for the task.
 * `expectedRevision` is the revision of the task in the path.
 */
export const dependencyCreate = z
  .strictObject({
    targetId: taskId.optional(),
    type: z.enum(['blocked-by', 'blocks']).optional(),
    depends_on: taskId.optional(),
    blocks: taskId.optional(),
    expectedRevision: revision.optional(),
  })
  .refine(...exactlyOneOf('targetId', 'depends_on', 'blocks'))
  .refine(({ targetId, type }) => (targetId === undefined) === (type === undefined), {
    path: ['type'],
    message: 'is required with targetId, and not allowed without it',
  })
  .meta({ id: 'DependencyCreate' });
export type DependencyCreate = z.infer<typeof dependencyCreate>;

/** The tasks a task waits for, and those that wait for it, wherever they are. */
export const dependencies = z
  .object({ depends_on: z.array(task), blocks: z.array(task), nextCursor })
  .meta({ id: 'Dependencies' });

export interface DependencyNode {
  task: Task;
  children: DependencyNode[];
}

export const dependencyNode: z.ZodType<DependencyNode> = z
  .object({ task, children: z.array(z.lazy(() => dependencyNode)) })
  .meta({ id: 'DependencyNode' });

/** What a task waits for and what waits for it, step by step; every task once per direction. */
export const dependencyGraph = z
  .object({ task, upstream: z.array(dependencyNode), downstream: z.array(dependencyNode) })
  .meta({ id: 'DependencyGraph' });

/** A task is blocked while something it waits for is in another status than `done`. */
export const blockingStatus = z
  .object({
    isBlocked: z.boolean(),
    blockers: z.array(z.object({ id: taskId, title: z.string(), status: taskStatus })),
    completedBlockers: z.array(z.object({ id: taskId, title: z.string() })),
  })
  .meta({ id: 'BlockingStatus' });
