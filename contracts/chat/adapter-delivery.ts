import { z } from 'zod';
import { slug, taskId, text, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { adapterKind } from './adapter';

export const deliveryId = z.string().regex(/^delivery_[A-Za-z0-9_-]{6,40}$/, 'must look like delivery_0123456789ab');

const squadMessageId = z.string().min(1).max(64);
export const communityChannelId = z.uuid();
const externalId = text(300, 1);

/** A message to the destination of an adapter. */
export const adapterSend = z
  .strictObject({
    message: text(4_000, 1),
    title: text(150, 1).optional(),
    /** What it is about: replies to it belong to this task, and to the thread of this squad message. */
    taskId: taskId.optional(),
    squadMessageId: squadMessageId.optional(),
    /** Of a community adapter: the channel, by default the one that is mapped to the squad chat. */
    channelId: communityChannelId.optional(),
    /** Of a community adapter: the message there that this one replies to. */
    externalThreadId: externalId.optional(),
  })
  .meta({ id: 'CommunicationSend' });
export type AdapterSend = z.output<typeof adapterSend>;

/** `pending` until the other side has acknowledged it, or it is abandoned. */
export const deliveryState = z.enum(['pending', 'delivered', 'failed']);

export const adapterDelivery = z
  .object({
    id: deliveryId,
    adapterId: slug,
    kind: adapterKind,
    state: deliveryState,
    message: z.string(),
    title: z.string().optional(),
    taskId: taskId.optional(),
    squadMessageId: squadMessageId.optional(),
    channelId: communityChannelId.optional(),
    externalThreadId: externalId.optional(),
    /** What the other side knows the message by, where it has a name for it. */
    externalMessageId: z.string().optional(),
    requestedBy: z.string(),
    /** How often it was sent. */
    attempts: z.number().int(),
    /** Of the last response. */
    httpStatus: z.number().int().optional(),
    /** Why it is not delivered: a code, and a sentence. */
    reasonCode: z.string().optional(),
    error: z.string().optional(),
    /** What the other side asked to wait for. */
    retryAt: timestamp.optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
    /** When it was acknowledged, which happens once. */
    deliveredAt: timestamp.optional(),
  })
  .meta({ id: 'CommunicationDelivery' });
export type AdapterDelivery = z.infer<typeof adapterDelivery>;

export const deliveryQuery = z.strictObject({
  adapterId: slug.optional(),
  state: deliveryState.optional(),
  deliveryId: deliveryId.optional(),
  ...listPage(50, 500),
});
export type DeliveryQuery = z.output<typeof deliveryQuery>;

export const deliveryPage = z
  .object({ deliveries: z.array(adapterDelivery), nextCursor })
  .meta({ id: 'CommunicationDeliveryPage' });

/** What an external thread belongs to. */
const target = z
  .strictObject({
    kind: z.enum(['squad', 'task']),
    squadMessageId: squadMessageId.optional(),
    taskId: taskId.optional(),
  })
  .refine(({ kind, taskId: id }) => kind !== 'task' || id !== undefined, {
    path: ['taskId'],
    message: 'is required with the kind task',
  });
export type MappingTarget = z.output<typeof target>;

/** A reply of a person in the team chat or community. */
export const adapterReply = z
  .strictObject({
    externalThreadId: externalId,
    externalReplyId: externalId,
    /** Who wrote it, as the other side names them. */
    actor: text(80, 1),
    displayName: text(100, 1).optional(),
    message: text(5_000, 1),
    /** That of the thread when absent. */
    target: target.optional(),
  })
  .meta({ id: 'CommunicationReply' });
export type AdapterReply = z.output<typeof adapterReply>;

export const replyReceipt = z
  .object({
    messageId: squadMessageId,
    /** It had been received before: nothing was done again. */
    duplicate: z.boolean(),
    threadId: squadMessageId.optional(),
  })
  .meta({ id: 'CommunicationReplyReceipt' });
export type ReplyReceipt = z.infer<typeof replyReceipt>;

/** What an external thread belongs to, so that its replies need not state it. */
export const adapterMapping = z
  .object({
    id: z.string(),
    adapterId: slug,
    externalThreadId: z.string(),
    channelId: communityChannelId.optional(),
    target: z.object({
      kind: z.enum(['squad', 'task']),
      squadMessageId: squadMessageId.optional(),
      taskId: taskId.optional(),
    }),
    createdBy: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'CommunicationMapping' });
export type AdapterMapping = z.infer<typeof adapterMapping>;

export const mappingQuery = z.strictObject({ adapterId: slug.optional(), ...listPage(50, 500) });
export type MappingQuery = z.output<typeof mappingQuery>;

export const mappingPage = z
  .object({ mappings: z.array(adapterMapping), nextCursor })
  .meta({ id: 'CommunicationMappingPage' });

/** What a poll has read of the channels. */
export const pollReport = z
  .object({
    channels: z.number().int(),
    ingested: z.number().int(),
    duplicates: z.number().int(),
    /** Own messages, and what is no message of a channel. */
    skipped: z.number().int(),
    /** There was more than one poll reads: older messages were not read. */
    truncated: z.boolean(),
    polledAt: timestamp,
  })
  .meta({ id: 'CommunicationPollReport' });
export type PollReport = z.infer<typeof pollReport>;
