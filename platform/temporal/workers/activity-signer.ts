import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type MessageProofs, startProofMs } from '../../crypto/message-proof';
import type { MessageProof } from '../../crypto/message-proof-shape';
import { activityMessage, type ScheduledActivity } from '../activity-proof';
import { activityForbidden } from './activity-fence';

/** The local activity by which workflow code, which has no key, proves what it schedules. */
export const createActivitySigner = (proofs: Pick<MessageProofs, 'sign'>) => ({
  /** @throws ApplicationFailure `ACTIVITY_FORBIDDEN` unless this worker runs the workflow */
  async signActivity(scheduled: ScheduledActivity): Promise<MessageProof> {
    const { isLocal, workflowExecution } = Context.current().info;
    // Any workflow that schedules activities could have this one's name; a local activity is scheduled by our code.
    if (!isLocal || !workflowExecution) {
      throw ApplicationFailure.nonRetryable('An activity is proven for its own workflow only.', activityForbidden);
    }
    return proofs.sign(activityMessage(workflowExecution, scheduled), startProofMs);
  },
});

export type ActivitySigner = ReturnType<typeof createActivitySigner>;
