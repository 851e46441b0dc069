import { z } from 'zod';
import { text, timestamp } from '../common';
import { listPage, moment } from '../query';

export const broadcastPriority = z.enum(['info', 'action-required', 'urgent']);

/** A message to all agents, and who has read it. */
export const broadcast = z
  .object({
    id: z.string(),
    message: z.string(),
    priority: broadcastPriority,
    from: z.string(),
    tags: z.array(z.string()),
    createdAt: timestamp,
    readBy: z.array(z.object({ agent: z.string(), readAt: timestamp })),
  })
  .meta({ id: 'Broadcast' });
export type Broadcast = z.infer<typeof broadcast>;

/** `from` defaults to the caller. */
export const broadcastCreate = z
  .strictObject({
    message: text(5000, 1),
    priority: broadcastPriority.default('info'),
    from: text(100, 1).optional(),
    tags: z.array(text(50, 1)).max(20).default([]),
  })
  .meta({ id: 'BroadcastCreate' });

export const broadcastQuery = z
  .strictObject({
    since: moment.optional(),
    unread: z
      .enum(['true', 'false'])
      .default('false')
      .transform((value) => value === 'true'),
    agent: text(100, 1).optional(),
    priority: broadcastPriority.optional(),
    ...listPage(50, 200),
  })
  .refine(({ unread, agent }) => !unread || agent !== undefined, {
    path: ['agent'],
    message: 'is required with unread: the agent that has not read them',
  });
export type BroadcastQuery = z.output<typeof broadcastQuery>;

export const broadcastRead = z.strictObject({ agent: text(100, 1) }).meta({ id: 'BroadcastRead' });
