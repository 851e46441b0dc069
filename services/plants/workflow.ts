import { allHandlersFinished, condition, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { PlantActivities } from './activities';
import { type Created, createdUpdate, type PlantCreation } from './messages';

const { storePlant, giveUp } = proxyActivities<Pick<PlantActivities, 'storePlant' | 'giveUp'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
});

/**
 * Stores a plant and notifies every receiver of it: whatever dies in between, a plant that was stored is announced, and one
 * that could not be stored is not.
 */
export async function plantCreation(creation: PlantCreation): Promise<Created> {
  const state: { outcome?: Created } = {};
  setHandler(createdUpdate, async () => {
    await condition(() => state.outcome !== undefined);
    return state.outcome ?? { created: false };
  });
  const { workflowId } = workflowInfo();
  const { created, receivers } = await storePlant({ ...creation, by: workflowId });
  state.outcome = { created };
  if (created) {
    await Promise.all(
      receivers.map((receiver) => announce(creation, { receiver, deliveryId: `${workflowId}/${receiver}` })),
    );
  }
  await condition(allHandlersFinished);
  return state.outcome;
}

/** Notifies one receiver, with growing pauses; a failure for good is recorded. */
async function announce(creation: PlantCreation, to: { receiver: string; deliveryId: string }): Promise<void> {
  const { firstPauseMs, longestPauseMs, giveUpAfterMs } = creation.delivery;
  const { deliver } = proxyActivities<Pick<PlantActivities, 'deliver'>>({
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: giveUpAfterMs,
    retry: { initialInterval: firstPauseMs, maximumInterval: longestPauseMs },
    summary: `notify receiver ${to.receiver}`,
  });
  try {
    await deliver({ creation, ...to });
  } catch {
    await giveUp({ deliveryId: to.deliveryId });
  }
}
