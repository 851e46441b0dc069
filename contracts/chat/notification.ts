import { z } from 'zod';
import { taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { webUrl } from '../url';

const kind = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z][a-z0-9_.-]*$/, 'lower-case letters, digits, dot, dash and underscore; starts with a letter');

/** A notification. Without a `targetAgent` it is for the board's operator. */
export const notification = z
  .object({
    id: z.string(),
    taskId: taskId.optional(),
    targetAgent: z.string().optional(),
    fromAgent: z.string(),
    content: z.string(),
    type: z.string(),
    title: z.string().optional(),
    taskTitle: z.string().optional(),
    project: z.string().optional(),
    targetUrl: z.string().optional(),
    dedupeKey: z.string().optional(),
    delivered: z.boolean(),
    deliveredAt: timestamp.optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'Notification' });
export type Notification = z.infer<typeof notification>;

/** `source` is the sender, by default the caller. An existing `dedupeKey` makes no second one. */
export const notificationCreate = z
  .strictObject({
    message: text(5000, 1),
    type: kind.default('info'),
    title: text(200, 1).optional(),
    targetAgent: text(100, 1).optional(),
    taskId: taskId.optional(),
    taskTitle: text(200).optional(),
    project: text(200).optional(),
    targetUrl: z
      .union(
        [webUrl, text(2000).regex(/^\/(?![/\\])\S*$/)],
        'must be a URL that begins with http:// or https://, or a path',
      )
      .optional(),
    dedupeKey: text(200, 1).optional(),
    source: text(100, 1).optional(),
  })
  .meta({ id: 'NotificationCreate' });

export const notificationQuery = z
  .strictObject({
    agent: text(100, 1).optional(),
    undelivered: z
      .enum(['true', 'false'])
      .default('false')
      .transform((value) => value === 'true'),
    taskId: taskId.optional(),
    ...listPage(50, 500),
  })
  .meta({ id: 'NotificationQuery' });
export type NotificationQuery = z.output<typeof notificationQuery>;

export const pendingNotifications = z
  .object({
    count: z.number().int(),
    messages: z.array(z.object({ id: z.string(), type: z.string(), text: z.string(), timestamp })),
    nextCursor,
  })
  .meta({ id: 'PendingNotifications' });

const id = z.string().max(64);

export const notificationIds = z.strictObject({ ids: z.array(id).min(1).max(500) }).meta({ id: 'NotificationIds' });

export const notificationStats = z
  .object({
    total: z.number().int(),
    undelivered: z.number().int(),
    delivered: z.number().int(),
    byType: z.record(z.string(), z.number().int()),
  })
  .meta({ id: 'NotificationStats' });

/** Why an agent is notified of a task. */
export const taskSubscription = z
  .object({ taskId, agent: z.string(), reasons: z.array(z.enum(['assigned', 'commented', 'mentioned'])) })
  .meta({ id: 'TaskSubscription' });
export type TaskSubscription = z.infer<typeof taskSubscription>;

/** A text about a task whose mentions become notifications; `@all` means `allAgents`. */
export const mentionText = z
  .strictObject({
    taskId,
    fromAgent: text(100, 1).optional(),
    content: text(5000, 1),
    allAgents: z.array(text(100, 1)).max(100).optional(),
  })
  .meta({ id: 'MentionText' });

export const deliveredAll = z.strictObject({ agent: text(100, 1) }).meta({ id: 'DeliveredAll' });

export const notificationsDone = z
  .object({ success: z.literal(true), count: z.number().int() })
  .meta({ id: 'NotificationsDone' });
