import { type MessageProofs, startProofMs } from '../../crypto/message-proof';
import type { MessageProof } from '../../crypto/message-proof-shape';
import { activityMessage, type ScheduledActivity } from '../activity-proof';
import { ownExecution } from './own-execution';

/** The local activity by which workflow code, which has no key, proves what it schedules. */
export const createActivitySigner = (proofs: Pick<MessageProofs, 'sign'>) => ({
  /** @throws ApplicationFailure `ACTIVITY_FORBIDDEN` unless this worker runs the workflow */
  async signActivity(scheduled: ScheduledActivity): Promise<MessageProof> {
    const execution = ownExecution('An activity is proven for its own workflow only.');
    return proofs.sign(activityMessage(execution, scheduled), startProofMs);
  },
});

export type ActivitySigner = ReturnType<typeof createActivitySigner>;
