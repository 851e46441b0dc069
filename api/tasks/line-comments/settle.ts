import type { ApiContext } from '../../context';

/** The idempotency key of the launch that sends a review. */
export const sendKey = (sendId: string): string => `line-comments:${sendId}`;

export type SettleContext = Pick<ApiContext, 'attempts' | 'conversations' | 'launches' | 'lineComments'>;

/**
 * Marks the comments of reviews whose launch succeeded and whose caller was lost before it could: their process died in between.
 */
export async function settleSends(context: SettleContext, taskId: string): Promise<void> {
  const { attempts, conversations, launches, lineComments } = context;
  for (const sendId of await lineComments.pendingSends(taskId)) {
    const claim = await launches.find(taskId, sendKey(sendId));
    const attempt = claim && (await attempts.get(claim.attemptId));
    if (!attempt || claim.outcome?.status === 'refused' || attempt.state === 'refused') {
      continue;
    }
    const by = (await conversations.get(claim.attemptId))?.actor ?? 'system:review';
    const reserved = await lineComments.reserved(taskId, sendId);
    const ids = reserved.map(({ id }) => id);
    await lineComments.markSent(taskId, ids, { attemptId: attempt._id, by });
  }
}
