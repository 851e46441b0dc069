import { z } from 'zod';
import { attemptId, commitPolicy, phase, text } from '../common';
import { idempotencyKey } from './launch/launch';

/** How an attempt continues the session of an earlier one. */
export const conversationEdge = z.enum(['resume', 'follow-up', 'fork']);
export type ConversationEdge = z.infer<typeof conversationEdge>;

/** A new attempt that continues the session of exactly this terminal one. */
export const conversationRequest = z
  .strictObject({
    sourceAttemptId: attemptId,
    message: text(20_000, 1),
    phase: phase.optional(),
    commitPolicy: commitPolicy.optional(),
    idempotencyKey: idempotencyKey.optional(),
  })
  .meta({ id: 'ConversationRequest' });

/** A fork may begin at an earlier turn of the session; at its end without one. */
export const forkRequest = conversationRequest
  .extend({ forkTurnId: text(256, 1).optional() })
  .meta({ id: 'ConversationForkRequest' });
export type ForkRequest = z.infer<typeof forkRequest>;

/**
 * The source of an attempt that continues another one's session; `start`: that session cannot be continued, and a new one begins
 * with the message.
 */
export const conversationSource = z.object({
  edge: z.enum([...conversationEdge.options, 'start']),
  sourceAttemptId: attemptId,
  forkTurnId: z.string().optional(),
});
export type ConversationSource = z.infer<typeof conversationSource>;
