import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { compact } from '../../platform/json/compact';
import type { Log } from '../../platform/log/log';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { creationMessage, type PlantCreation } from './messages';
import { receiverRefusal, type Receivers } from './receivers';
import type { DeliveryAttempt, PlantStore } from './store';

export interface PlantActivityDependencies {
  store: PlantStore;
  receivers: Receivers;
  log: Log;
  proofs: ProofVerifier;
  now: () => Date;
}

interface Announcement {
  creation: PlantCreation;
  receiver: string;
  deliveryId: string;
}

export function createPlantActivities({ store, receivers, log, proofs, now }: PlantActivityDependencies) {
  /** Only the service creates plants, and announces them to receivers. */
  const verify = (creation: PlantCreation): Promise<void> =>
    proofs.require(creationMessage(workflowId(), creation), creation.proof);
  const workflowId = (): string => Context.current().info.workflowExecution?.workflowId ?? '';

  return {
    /** Stores the plant, and returns its receivers. Repeated, it finds what it has stored. */
    async storePlant({
      by,
      ...creation
    }: PlantCreation & { by: string }): Promise<{ created: boolean; receivers: string[] }> {
      await verify(creation);
      const { user, id, name, tag } = creation;
      const plant = { name, ...compact({ tag }) };
      const created = await store.add(user, { id: BigInt(id), plant, creation: { by, at: now().toISOString() } });
      return { created, receivers: receivers.ids() };
    },

    /**
     * Notifies one receiver once. Every attempt is logged.
     *
     * @throws ApplicationFailure to be tried again, or not when the receiver's address is not allowed
     */
    async deliver({ creation, receiver, deliveryId }: Announcement): Promise<void> {
      const { user, id, name, tag } = creation;
      // What was stored is announced, also by an earlier version, which signed nothing.
      const plant = { id: BigInt(id), name, ...compact({ tag }) };
      if (!(await store.isOf(user, plant, workflowId()))) {
        await verify(creation);
      }
      // Delivered already, by an attempt whose response was lost, or by the same creation that was sent again.
      if (await store.isDelivered(deliveryId)) {
        return;
      }
      const at = now();
      const outcome = await receivers.send(receiver, {
        deliveryId,
        at,
        plant,
      });
      const accepted = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
      const attempt: DeliveryAttempt = { at: at.toISOString(), durationMs: now().getTime() - at.getTime(), ...outcome };
      await store.logAttempt({ _id: deliveryId, user, receiver }, accepted ? 'delivered' : 'pending', attempt);
      if (accepted) {
        return;
      }
      const message = outcome.error ?? `The receiver responded with ${outcome.status ?? 'nothing'}.`;
      log.warn({ receiver, deliveryId, status: outcome.status }, message);
      throw ApplicationFailure.create({ type: 'NOT_DELIVERED', message, nonRetryable: receiverRefusal(outcome) });
    },

    /** Records that a receiver could not be notified. */
    giveUp: ({ deliveryId }: { deliveryId: string }): Promise<void> => store.giveUp(deliveryId),
  };
}

export type PlantActivities = ReturnType<typeof createPlantActivities>;
