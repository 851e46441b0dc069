import { z } from 'zod';
import { revision, slug, taskId, text, timestamp } from '../common';
import { listPage } from '../query';
import { taskLocation, taskPriority, taskStatus } from '../tasks/task';
import { webUrl } from '../url';

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

/** Which tasks and changes a hook is for: every field that is set must fit. */
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

/** As it is stored: URLs accepted earlier are returned, whatever the rules are now. */
const storedAction = z.object({ type: z.literal('webhook'), url: z.string() });

export const hook = z
  .object({ ...fields, action: storedAction, id: hookId, createdAt: timestamp, updatedAt: timestamp, revision })
  .meta({ id: 'Hook' });
export type Hook = z.infer<typeof hook>;
export type HookFields = Omit<Hook, 'id' | 'createdAt' | 'updatedAt' | 'revision'>;

/** One value, or a list of one: a hook is for one type, project and priority, or for any. */
const single = <T extends z.ZodType>(value: T) =>
  z.union([
    value,
    z
      .array(value)
      .max(1, 'must be one value, or absent for any')
      .transform((list) => list[0]),
  ]);

/** How existing clients write the action and the filter of a hook (gaps 2). */
const otherForm = {
  action: z.union([hookAction, z.literal('webhook')], {
    error: 'must be {type: "webhook", url}, or "webhook" with config.url: hooks have no other action',
  }),
  config: z.strictObject({ url: webUrl }),
  taskTypeFilter: single(text(50, 1)).nullable(),
  projectFilter: single(text(200, 1)).nullable(),
  priorityFilter: single(taskPriority).nullable(),
};

const filterFields = ['taskTypeFilter', 'projectFilter', 'priorityFilter'] as const;

const oneFilter = [
  (body: { filter?: unknown } & { [K in (typeof filterFields)[number]]?: unknown }) =>
    body.filter === undefined || filterFields.every((name) => body[name] === undefined),
  {
    path: ['filter'] as PropertyKey[],
    message: 'is an alias of taskTypeFilter, projectFilter and priorityFilter: use one form',
  },
] as const;

/** A hook. Existing clients send `action: "webhook"` with `config {url}`, and one field for each part of the filter. */
export const hookCreate = z
  .strictObject({
    name: fields.name,
    event: fields.event,
    ...z.object(otherForm).partial().shape,
    filter: fields.filter.optional(),
    action: otherForm.action,
    enabled: fields.enabled.default(true),
    order: fields.order.default(0),
  })
  .refine(({ action, config }) => (action === 'webhook') === (config !== undefined), {
    path: ['config'],
    message: 'is required with the action "webhook", and not allowed without it',
  })
  .refine(...oneFilter)
  .meta({ id: 'HookCreate' });
export type HookCreate = z.infer<typeof hookCreate>;

/** As {@link hookCreate}; a filter in the form of existing clients changes its own part, and `null` removes that. */
export const hookPatch = z
  .strictObject({
    ...z.object(fields).partial().shape,
    ...z.object(otherForm).partial().shape,
    expectedRevision: revision.optional(),
  })
  .refine(({ action, config }) => action !== 'webhook' || config !== undefined, {
    path: ['config'],
    message: 'is required with the action "webhook"',
  })
  .refine(({ action, config }) => config === undefined || typeof action !== 'object', {
    path: ['config'],
    message: 'is an alias of the action: give only one of them',
  })
  .refine(...oneFilter)
  .meta({ id: 'HookPatch' });
export type HookPatch = z.infer<typeof hookPatch>;

export const hookQuery = z.strictObject({
  event: hookEvent.optional(),
  enabled: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional(),
  ...listPage(1000, 1000),
});

/** What happened to a task, as hooks receive it. */
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

/**
 * What came of one hook, or of one action of a transition rule, for one change: pending while it is tried again, blocked when the
 * rules forbid it.
 */
export const hookExecution = z
  .object({
    id: z.string(),
    hookId,
    hookName: z.string(),
    event: hookEvent,
    taskId,
    action: z.enum(['webhook', 'send-webhook', 'send-notification', 'prompt-lessons-learned', 'log-activity']),
    state: z.enum(['pending', 'delivered', 'failed', 'blocked']),
    success: z.boolean(),
    attempts: z.number().int(),
    status: z.number().int().optional(),
    error: z.string().optional(),
    /** Of the decision of the rules, when they were about it. */
    traceId: z.string().optional(),
    durationMs: z.number().int(),
    executedAt: timestamp,
  })
  .meta({ id: 'HookExecution' });
export type HookExecution = z.infer<typeof hookExecution>;

export const executionQuery = z.strictObject({
  hookId: hookId.optional(),
  taskId: taskId.optional(),
  ...listPage(50, 500),
});

/** Fires the hooks of an event by hand, for the current task but for the fields stated. */
export const hookFire = z
  .strictObject({
    event: hookEvent,
    taskId,
    taskTitle: text(200, 1).optional(),
    taskType: text(50, 1).optional(),
    project: text(200, 1).optional(),
    priority: taskPriority.optional(),
    agent: slug.optional(),
    previousStatus: taskStatus.optional(),
    newStatus: taskStatus.optional(),
  })
  .meta({ id: 'HookFire' });

export const hookFired = z
  .object({ hooksRun: z.number().int(), results: z.array(z.object({ hookId, hookName: z.string() })) })
  .meta({ id: 'HookFired' });
