import { z } from 'zod';
import { attemptId, timestamp } from '../common';

/** The header in which an agent elsewhere sends the secret of its attempt, where the body has no `callbackSecret`. */
export const callbackSecretHeader = 'X-Board-Callback-Secret';

/** A secret as it is presented; its hash decides whether it is the right one. */
export const presentedSecret = z.string().min(1).max(200);

/** How a remote agent proves that an attempt is its own. Only the response that issues it ever has it. */
export const issuedCallback = z
  .object({ secret: z.string(), header: z.literal(callbackSecretHeader), url: z.string() })
  .meta({ id: 'IssuedCallback' });
export type IssuedCallback = z.infer<typeof issuedCallback>;

export const renewedCallback = z
  .object({ attemptId, issuedAt: timestamp, callback: issuedCallback })
  .meta({ id: 'RenewedCallback' });
