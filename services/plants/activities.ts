import { ApplicationFailure } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import type { Log } from '../../platform/log/log';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { receiverRefusal, type Receivers } from './receivers';
import { creationMessage, type PlantCreation } from './messages';
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
  /** Nobody but the service creates plants, or has receivers told of them. */
  const verify = (creation: PlantCreation): Promise<void> =>
    proofs.require(creationMessage(workflowId(), creation), creation.proof);
  const workflowId = (): string => Context.current().info.workflowExecution?.workflowId ?? '';

  return {
    /** Stores the plant, and says whom to tell of it. Repeated, it finds what it has stored. */
    async storePlant({
      by,
      ...creation
    }: PlantCreation & { by: string }): Promise<{ created: boolean; receivers: string[] }> {
      await verify(creation);
      const { user, id, name, tag } = creation;
      const plant = { name, ...(tag === undefined ? {} : { tag }) };
      const created = await store.add(user, BigInt(id), plant, { by, at: now().toISOString() });
      return { created, receivers: receivers.ids() };
    },

    /**
     * Tells one receiver once. Every attempt is logged.
     *
     * @throws ApplicationFailure to be tried again, or not when the receiver is one that is never talked to
     */
    async deliver({ creation, receiver, deliveryId }: Announcement): Promise<void> {
      const { user, id, name, tag } = creation;
      // What was stored is told, also what an earlier version has stored, which signed nothing.
      const plant = { id: BigInt(id), name, ...(tag === undefined ? {} : { tag }) };
      if (!(await store.isOf(user, plant, workflowId()))) await verify(creation);
      // Told already, by a try whose answer was lost, or by the same creation that was sent again.
      if (await store.isDelivered(deliveryId)) return;
      const at = now();
      const outcome = await receivers.send(receiver, {
        deliveryId,
        at,
        plant,
      });
      const accepted = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
      const attempt: DeliveryAttempt = { at: at.toISOString(), durationMs: now().getTime() - at.getTime(), ...outcome };
      await store.logAttempt({ _id: deliveryId, user, receiver }, accepted ? 'delivered' : 'pending', attempt);
      if (accepted) return;
      const message = outcome.error ?? `The receiver answered ${outcome.status ?? 'nothing'}.`;
      log.warn({ receiver, deliveryId, status: outcome.status }, message);
      throw ApplicationFailure.create({ type: 'NOT_DELIVERED', message, nonRetryable: receiverRefusal(outcome) });
    },

    /** Writes down that a receiver could not be told. */
    giveUp: ({ deliveryId }: { deliveryId: string }): Promise<void> => store.giveUp(deliveryId),
  };
}

export type PlantActivities = ReturnType<typeof createPlantActivities>;
