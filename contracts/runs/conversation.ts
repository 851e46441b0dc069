import { z } from 'zod';
import { attemptId, commitPolicy, phase, text } from '../common';
import { idempotencyKey, launchRequest } from './launch/launch';

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

/** A new attempt whose session begins with a message; everything else is as in a launch. */
export const freshConversationRequest = launchRequest
  .extend({ message: conversationRequest.shape.message })
  .meta({ id: 'FreshConversationRequest' });
export type FreshConversationRequest = z.infer<typeof freshConversationRequest>;

/**
 * The source of an attempt that continues another one's session; `start`: a new session begins with the message, because that one
 * cannot be continued, or without a source because none was requested.
 */
export const conversationSource = z.object({
  edge: z.enum([...conversationEdge.options, 'start']),
  sourceAttemptId: attemptId.optional(),
  forkTurnId: z.string().optional(),
});
export type ConversationSource = z.infer<typeof conversationSource>;
