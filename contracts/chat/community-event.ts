import { z } from 'zod';

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));

/** An event of a relay (NIP-01): who wrote what, signed by its author. */
export const communityEvent = z.object({
  id: hex(64),
  pubkey: hex(64),
  /** Seconds since the epoch. */
  created_at: z.number().int().min(0).max(99_999_999_999),
  kind: z.number().int().min(0).max(65_535),
  tags: z.array(z.array(z.string().max(4_000)).max(50)).max(500),
  content: z.string().max(100_000),
  sig: hex(128),
});
export type CommunityEvent = z.infer<typeof communityEvent>;
export type UnsignedEvent = Omit<CommunityEvent, 'id' | 'sig'>;

/** A tag of an event by which a community recognises whose an identity is. */
export const authTag = z.tuple([z.literal('auth')], z.string().max(1_000)).refine((tag) => tag.length <= 10);

/** What a relay reports of itself (NIP-11), as far as it is of interest. */
export const relayInformation = z.object({
  name: z.string().max(1_000).optional(),
  software: z.string().max(1_000).optional(),
  version: z.string().max(200).optional(),
  supported_nips: z.array(z.number()).max(500).optional(),
  limitation: z
    .object({
      auth_required: z.boolean().optional(),
      max_content_length: z.number().optional(),
    })
    .optional(),
});
export type RelayInformation = z.infer<typeof relayInformation>;

/** How a relay responds to an event that is posted. */
export const publishResponse = z.object({
  event_id: z.string().max(100).optional(),
  accepted: z.boolean(),
  message: z.string().max(10_000).optional(),
});
