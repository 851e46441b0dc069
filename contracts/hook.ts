import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from './common';
import { taskLocation, taskPriority, taskStatus } from './task';
import { webUrl } from './url';

/** What happens to tasks that hooks can wait for. `task.status.changed` is every change of the status. */
export const hookEvent = z.enum([
  'task.created',
  'task.status.changed',
  'task.started',
  'task.blocked',
  'task.done',
  'task.archived',
]);
export type HookEvent = z.infer<typeof hookEvent>;

export const hookId = z.string().regex(/^hook_[0-9a-f]{12}$/, 'must look like hook_0123456789ab');

/** Which tasks and changes a hook is for: every field that is given must fit. */
export const hookFilter = z
  .strictObject({
    newStatus: taskStatus.optional(),
    previousStatus: taskStatus.optional(),
    type: text(50, 1).optional(),
    project: text(200, 1).optional(),
    priority: taskPriority.optional(),
  })
  .meta({ id: 'HookFilter' });

export const hookAction = z.strictObject({ type: z.literal('webhook'), url: webUrl }).meta({ id: 'HookAction' });

const fields = {
  name: text(200, 1),
  event: hookEvent,
  filter: hookFilter,
  action: hookAction,
  enabled: z.boolean(),
  order: z.number().int().min(0).max(10_000),
};

export const hook = z
  .object({ ...fields, id: hookId, createdAt: timestamp, updatedAt: timestamp, revision })
  .meta({ id: 'Hook' });
export type Hook = z.infer<typeof hook>;
export type HookFields = Omit<Hook, 'id' | 'createdAt' | 'updatedAt' | 'revision'>;

export const hookCreate = z
  .strictObject({
    name: fields.name,
    event: fields.event,
    filter: fields.filter.default({}),
    action: fields.action,
    enabled: fields.enabled.default(true),
    order: fields.order.default(0),
  })
  .meta({ id: 'HookCreate' });

export const hookPatch = z
  .strictObject({ ...z.object(fields).partial().shape, expectedRevision: revision.optional() })
  .meta({ id: 'HookPatch' });

export const hookQuery = z.strictObject({
  event: hookEvent.optional(),
  enabled: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
});

/** What happened to a task, as hooks are told. */
export const hookContext = z
  .object({
    event: hookEvent,
    taskId,
    taskTitle: z.string(),
    taskType: z.string(),
    project: z.string().optional(),
    sprint: z.string().optional(),
    priority: z.string(),
    agent: slug.optional(),
    location: taskLocation,
    previousStatus: taskStatus.optional(),
    newStatus: taskStatus,
    timestamp,
  })
  .meta({ id: 'HookContext' });
export type HookContext = z.infer<typeof hookContext>;

/** What came of one hook for one change: pending while it is tried again. */
export const hookExecution = z
  .object({
    id: z.string(),
    hookId,
    hookName: z.string(),
    event: hookEvent,
    taskId,
    action: z.literal('webhook'),
    state: z.enum(['pending', 'delivered', 'failed']),
    success: z.boolean(),
    attempts: z.number().int(),
    status: z.number().int().optional(),
    error: z.string().optional(),
    durationMs: z.number().int(),
    executedAt: timestamp,
  })
  .meta({ id: 'HookExecution' });
export type HookExecution = z.infer<typeof hookExecution>;

export const executionQuery = z.strictObject({
  hookId: hookId.optional(),
  taskId: taskId.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

/** Fires the hooks of an event by hand, for a task as it is now. */
export const hookFire = z
  .strictObject({
    event: hookEvent,
    taskId,
    previousStatus: taskStatus.optional(),
    newStatus: taskStatus.optional(),
  })
  .meta({ id: 'HookFire' });

export const hookFired = z
  .object({ hooksRun: z.number().int(), results: z.array(z.object({ hookId, hookName: z.string() })) })
  .meta({ id: 'HookFired' });
