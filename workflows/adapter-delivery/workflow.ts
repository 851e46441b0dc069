import {
  ActivityCancellationType,
  CancellationScope,
  log,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { AdapterDeliveryActivities } from '../../activities/adapter-delivery/activities';
import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import { endOfAttempts } from '../end-of-attempts';
import type { AdapterDeliveryInput } from './messages';

/** Store work: short, idempotent, retried until the stores respond. */
const { settleAdapterDelivery } = proxyActivities<Pick<AdapterDeliveryActivities, 'settleAdapterDelivery'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/** Sends one message until the other side acknowledges it, refuses it for good, or the time for it is over. */
export async function adapterDelivery({
  deliveryId,
  timings,
}: AdapterDeliveryInput): Promise<AdapterDelivery['state']> {
  const { firstPauseMs, longestPauseMs, giveUpAfterMs, heartbeatTimeoutMs } = timings;
  const { attemptAdapterDelivery } = proxyActivities<Pick<AdapterDeliveryActivities, 'attemptAdapterDelivery'>>({
    startToCloseTimeout: '60 seconds',
    heartbeatTimeout: heartbeatTimeoutMs,
    scheduleToCloseTimeout: giveUpAfterMs,
    retry: { initialInterval: firstPauseMs, maximumInterval: longestPauseMs },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary: 'send the message',
  });
  try {
    await endOfAttempts(attemptAdapterDelivery({ deliveryId }));
  } catch (error) {
    log.warn('adapter delivery abandoned', { deliveryId, error });
  }
  // An operator's "cancel" in the Temporal UI does not leave a delivery without an end.
  const state = await CancellationScope.nonCancellable(() => settleAdapterDelivery({ deliveryId }));
  setCurrentDetails(`The message is **${state}**.`);
  return state;
}
