import type { Client } from '@temporalio/client';
import type { DecisionReviewStore } from '../../stores/governance/decision-reviews/decision-review-store';
import { decisionReviewOptions } from './client';

/** Starts what models, or the record of a decision, are due for: the process that had to may have died before. */
export async function reconcileReviews(
  client: Client,
  {
    decisionReviews,
    env,
  }: { decisionReviews: Pick<DecisionReviewStore, 'due'>; env: Parameters<typeof decisionReviewOptions>[1] },
): Promise<void> {
  for await (const { id } of decisionReviews.due()) {
    const options = { ...decisionReviewOptions(id, env), workflowIdConflictPolicy: 'USE_EXISTING' as const };
    await client.workflow.start('decisionReview', options);
  }
}
