import { z } from 'zod';
import { revision, text, timestamp } from '../common';
import { communityChannelId } from './adapter-delivery';

/** Maps a channel of a community to the squad chat; one enabled channel of an adapter may be mapped to it. */
export const communityChannelPut = z
  .strictObject({
    target: z.strictObject({ kind: z.literal('squad') }),
    enabled: z.boolean().default(true),
    /** Who answers for it; the caller when absent. */
    actor: text(100, 1).optional(),
  })
  .meta({ id: 'CommunityChannelPut' });
export type CommunityChannelPut = z.output<typeof communityChannelPut>;

export const communityChannelDisable = z.strictObject({ actor: text(100, 1).optional() });

export const communityChannel = z
  .object({
    channelId: communityChannelId,
    target: z.object({ kind: z.literal('squad') }),
    enabled: z.boolean(),
    actor: z.string(),
    /** The time of the newest message that was read, in seconds, as the community counts them. */
    polledUntil: z.number().int().nullable(),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'CommunityChannel' });
export type CommunityChannel = z.infer<typeof communityChannel>;

export const communityChannelList = z
  .object({ channels: z.array(communityChannel) })
  .meta({ id: 'CommunityChannelList' });
