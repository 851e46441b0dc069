import type { MappingTarget, ReplyReceipt } from '../../contracts/chat/adapter-delivery';
import { compact } from '../../platform/json/compact';
import { createRedactor } from '../../platform/log/redact';
import { printable } from '../../platform/text/printable';
import { withoutTags } from '../../platform/text/without-tags';
import type { Stores } from '../open-stores';
import { externalKey } from './adapter-mapping-store';
import type { NewSquadMessage } from './squad-store';

export type IngestStores = Pick<Stores, 'adapterMappings' | 'feed' | 'squad'>;

/** A reply whose target is known. */
export interface ExternalReply {
  adapterId: string;
  externalThreadId: string;
  externalReplyId: string;
  actor: string;
  displayName?: string | undefined;
  message: string;
  target: MappingTarget;
  channelId?: string | undefined;
  receivedAt: string;
  /** Who brought it here, as the audit log names actors. */
  createdBy: string;
}

const redact = createRedactor();

/** A text of others as it may be stored and shown: without tags, control characters and what looks like a secret. */
export const plainExternal = (text: string): string => redact(withoutTags(printable(text)));

/** The name of a reply's message follows from the reply: it is one message however often it is received. */
export const replyMessageId = (adapterId: string, externalReplyId: string): string =>
  `msg_${externalKey(adapterId, externalReplyId)}`;

/**
 * Adds a reply of a team chat or community to the squad chat and notifies watchers, once for its external id. Mentions in it
 * notify no agent: its author has no key here.
 */
export async function ingestReply(
  { adapterMappings, feed, squad }: IngestStores,
  reply: ExternalReply,
): Promise<ReplyReceipt> {
  const { adapterId, externalThreadId, channelId, createdBy } = reply;
  const _id = replyMessageId(adapterId, reply.externalReplyId);
  const before = await squad.get(_id);
  if (before) {
    return { messageId: _id, duplicate: true, ...compact({ threadId: before.threadId }) };
  }
  // Without a message that it replies to, a reply begins the thread of those that follow.
  const stated = { ...reply.target, squadMessageId: reply.target.squadMessageId ?? _id };
  const mapping = { adapterId, externalThreadId, target: stated, createdBy, ...compact({ channelId }) };
  const { target } = await adapterMappings.map(mapping);
  const parent = await squad.get(target.squadMessageId ?? _id);
  const made: NewSquadMessage = {
    _id,
    agent: `${plainExternal(reply.actor).slice(0, 80)}@${adapterId}`.slice(0, 100),
    ...compact({ displayName: reply.displayName && plainExternal(reply.displayName) }),
    message: plainExternal(reply.message),
    tags: ['communication', adapterId.slice(0, 50)],
    ...compact({ taskId: target.taskId }),
    system: false,
    ...compact({ replyToId: parent?._id, threadId: parent && (parent.threadId ?? parent._id) }),
    mentions: [],
    links: [],
    pinned: false,
    decision: false,
    reactions: [],
    timestamp: reply.receivedAt,
    createdBy,
  };
  const message = await squad.add(made);
  await feed.append({ type: 'notice', notice: { type: 'squad:message', message } });
  return { messageId: _id, duplicate: false, ...compact({ threadId: message.threadId }) };
}
