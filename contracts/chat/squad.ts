import { z } from 'zod';
import { attemptId, taskId, text, timestamp } from '../common';
import { listPage, moment } from '../query';

export const mentionKind = z.enum(['user', 'agent', 'role', 'owner']);

/** Who a message is meant for. */
export const mention = z
  .strictObject({ target: text(100, 1), kind: mentionKind.default('agent') })
  .meta({ id: 'Mention' });
export type Mention = z.output<typeof mention>;

const messageId = z.string().max(64);
const tag = text(50, 1);
const squadLink = z.strictObject({
  taskId: taskId.optional(),
  runId: attemptId.optional(),
  href: text(2000)
    .regex(/^(https?:\/\/|\/)/, 'must be an address that begins with http://, https:// or /')
    .optional(),
  label: text(200).optional(),
});

/** What a message is about, where a program wrote it about an agent. */
export const squadEvent = z.enum(['agent.spawned', 'agent.completed', 'agent.failed', 'agent.status']);

const reaction = z.object({ actor: z.string(), reaction: z.string(), createdAt: timestamp });

/** The fields of a message that callers set. `agent` defaults to the caller. */
const messageFields = {
  agent: text(100, 1),
  displayName: text(100, 1).optional(),
  message: text(5000, 1),
  model: text(100, 1).optional(),
  tags: z.array(tag).max(20),
  taskId: taskId.optional(),
  taskTitle: text(200).optional(),
  runId: attemptId.optional(),
  /** Written by a program, not by one who speaks. */
  system: z.boolean(),
  event: squadEvent.optional(),
  /** In milliseconds. */
  duration: z.number().min(0).optional(),
  replyToId: messageId.optional(),
  threadId: messageId.optional(),
  mentions: z.array(mention).max(50),
  links: z.array(squadLink).max(20),
  pinned: z.boolean(),
  decision: z.boolean(),
};

/** `threadId` is the first message of the thread that a reply is in. */
export const squadMessage = z
  .object({
    ...messageFields,
    id: messageId,
    timestamp,
    reactions: z.array(reaction),
    /** How many messages are in the thread that this one began. */
    replyCount: z.number().int(),
    createdBy: z.string(),
  })
  .meta({ id: 'SquadMessage' });
export type SquadMessage = z.output<typeof squadMessage>;

export const squadMessageCreate = z
  .strictObject({
    ...messageFields,
    agent: messageFields.agent.optional(),
    tags: messageFields.tags.default([]),
    system: messageFields.system.default(false),
    mentions: messageFields.mentions.default([]),
    links: messageFields.links.default([]),
    pinned: messageFields.pinned.default(false),
    decision: messageFields.decision.default(false),
  })
  .meta({ id: 'SquadMessageCreate' });
export type SquadMessageCreate = z.output<typeof squadMessageCreate>;

/** The newest `limit` messages, of one agent, after a time. */
export const squadQuery = z.strictObject({
  ...listPage(50, 200),
  agent: z.string().max(100).optional(),
  since: moment.optional(),
  includeSystem: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});
export type SquadQuery = z.output<typeof squadQuery>;

export const squadSearchQuery = z.strictObject({ q: text(200, 1), ...listPage(50, 200) });
export type SquadSearchQuery = z.output<typeof squadSearchQuery>;

/** A match of a search: never the whole message, and nothing that looks like a secret. */
export const squadHit = z
  .object({
    id: messageId,
    agent: z.string(),
    timestamp,
    threadId: messageId.optional(),
    snippet: z.string(),
  })
  .meta({ id: 'SquadHit' });
export type SquadHit = z.infer<typeof squadHit>;

export const squadActorQuery = z.strictObject({ actor: text(100, 1).optional() });

export const squadRead = z.strictObject({ actor: text(100, 1).optional(), messageId });

export const squadUnread = z
  .object({
    actor: z.string(),
    lastReadAt: timestamp.optional(),
    lastReadMessageId: messageId.optional(),
    unreadCount: z.number().int(),
    mentionCount: z.number().int(),
    latestUnreadMessageId: messageId.optional(),
  })
  .meta({ id: 'SquadUnread' });
export type SquadUnread = z.infer<typeof squadUnread>;

export const squadPin = z
  .strictObject({ pinned: z.boolean().optional(), decision: z.boolean().optional() })
  .refine(({ pinned, decision }) => pinned !== undefined || decision !== undefined, {
    path: ['pinned'],
    message: 'pinned or decision is required',
  })
  .meta({ id: 'SquadPin' });

export const squadReaction = z
  .strictObject({ actor: text(100, 1).optional(), reaction: text(32, 1) })
  .meta({ id: 'SquadReaction' });
