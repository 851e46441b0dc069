import type { ReviewRecord } from '../../domain/decision-reviews/record';
import type { Stores } from '../../stores/open-stores';

/** The actor of what the board does with a review. */
const actor = 'system:decision-review';

/** What has happened to a review, for the audit log; `once` names it, so that a repetition is not written twice. */
interface Done {
  action: string;
  details: Record<string, unknown>;
  once: string;
}

/** Writes what a worker has changed of a review to the audit log, and notifies its watchers. */
export async function announce(
  { audit, feed }: Pick<Stores, 'audit' | 'feed'>,
  { id: reviewId, taskId, state, round, revision }: ReviewRecord,
  done: Done,
): Promise<void> {
  await audit.record({ ...done, actor, resource: reviewId });
  await feed.append({
    type: 'notice',
    notice: { type: 'decision-review:changed', reviewId, taskId, state, round, revision },
  });
}
