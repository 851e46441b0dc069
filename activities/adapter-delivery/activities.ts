import { ApplicationFailure } from '@temporalio/common';
import type { AdapterDelivery, MappingTarget } from '../../contracts/chat/adapter-delivery';
import { compact } from '../../platform/json/compact';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { SendOutcome, Unacknowledged } from '../../providers/communication/outcome';
import { sendToTeamChat } from '../../providers/communication/team-chat';
import type { AdapterRecord } from '../../stores/chat/adapter-store';
import type { Stores } from '../../stores/open-stores';
import type { AdapterDeliveryInput } from '../../workflows/adapter-delivery/messages';
import { type AdapterConnections, unusable } from '../shared/adapter-connections';
import { messageEvent } from './community';

export interface AdapterDeliveryDependencies extends Pick<
  Stores,
  'adapterDeliveries' | 'adapterMappings' | 'adapters' | 'audit'
> {
  connections: AdapterConnections;
  now: () => Date;
}

type DeliveryRef = Pick<AdapterDeliveryInput, 'deliveryId'>;

/** A message that is ready to be sent, with the name that the other side will know it by. */
interface Prepared {
  externalMessageId?: string;
  send(): Promise<SendOutcome>;
}

export function createAdapterDeliveryActivities(deps: AdapterDeliveryDependencies) {
  const { adapterDeliveries, adapterMappings, adapters, audit, connections, now } = deps;

  async function prepare(
    adapter: AdapterRecord | undefined,
    delivery: AdapterDelivery,
  ): Promise<Prepared | Unacknowledged> {
    const problem = unusable(adapter);
    if (problem || !adapter) {
      return problem as Unacknowledged;
    }
    if (adapter.kind !== 'community') {
      const webhook = await connections.teamChat(adapter);
      return 'reasonCode' in webhook ? webhook : { send: () => sendToTeamChat(webhook, delivery) };
    }
    const community = connections.community(adapter);
    if ('reasonCode' in community) {
      return community;
    }
    const event = await messageEvent(community, delivery);
    if ('reasonCode' in event) {
      return event;
    }
    if (delivery.externalMessageId !== undefined && delivery.externalMessageId !== event.id) {
      return identityChanged;
    }
    return { externalMessageId: event.id, send: () => community.relay.publish(event) };
  }

  /** What people reply to the message belongs to what it was about. */
  async function mapThread(delivery: AdapterDelivery): Promise<void> {
    const { adapterId, channelId, externalMessageId, squadMessageId, taskId, requestedBy } = delivery;
    if (externalMessageId === undefined || (squadMessageId === undefined && taskId === undefined)) {
      return;
    }
    const target: MappingTarget = compact({
      kind: squadMessageId === undefined ? ('task' as const) : ('squad' as const),
      squadMessageId,
      taskId,
    });
    const mapping = { adapterId, externalThreadId: externalMessageId, target, createdBy: requestedBy };
    await adapterMappings.map({ ...mapping, ...compact({ channelId }) });
  }

  return {
    /**
     * Sends a message once more, unless the other side has acknowledged it.
     *
     * @throws ApplicationFailure to be tried again, or not when it would be of no use
     */
    async attemptAdapterDelivery({ deliveryId }: DeliveryRef): Promise<void> {
      const requested = await adapterDeliveries.get(deliveryId);
      if (requested?.state !== 'pending') {
        return;
      }
      // The attempt that was asked to wait may have been lost before Temporal knew of that.
      const leftMs = requested.retryAt === undefined ? 0 : Date.parse(requested.retryAt) - now().getTime();
      if (leftMs > 0) {
        throw notDelivered(`${requested.reasonCode}: the next attempt is at ${requested.retryAt}`, {
          nextRetryDelay: leftMs,
        });
      }
      const prepared = await prepare(await adapters.get(requested.adapterId), requested);
      if ('reasonCode' in prepared) {
        return refuse(deliveryId, prepared);
      }
      // Noted before it is sent: a worker that dies in between has made this attempt.
      const delivery = await adapterDeliveries.beginAttempt(deliveryId, prepared.externalMessageId);
      if (!delivery) {
        return;
      }
      const outcome = await withHeartbeat(() => prepared.send());
      if (!outcome.acknowledged) {
        return refuse(deliveryId, outcome);
      }
      await mapThread(delivery);
      await adapterDeliveries.acknowledge(deliveryId, compact({ httpStatus: outcome.httpStatus }));
    },

    /** Ends a delivery that no worker tries any more, and records in the audit log what became of it. */
    async settleAdapterDelivery({ deliveryId }: DeliveryRef): Promise<AdapterDelivery['state']> {
      const abandoned = await adapterDeliveries.fail(deliveryId);
      const delivery = abandoned ?? (await adapterDeliveries.get(deliveryId));
      if (!delivery) {
        return 'failed';
      }
      const { adapterId, attempts, requestedBy, reasonCode, state } = delivery;
      await audit.record({
        action: state === 'delivered' ? 'communication.delivered' : 'communication.failed',
        actor: requestedBy,
        resource: deliveryId,
        details: { adapterId, attempts, ...compact({ reasonCode }) },
        once: `adapter-delivery/${deliveryId}`,
      });
      return state;
    },
  };

  async function refuse(deliveryId: string, outcome: Unacknowledged): Promise<never> {
    const { reasonCode, error, httpStatus, isFinal, retryAfterMs } = outcome;
    const retryAt = retryAfterMs === undefined ? undefined : new Date(now().getTime() + retryAfterMs).toISOString();
    await adapterDeliveries.noteProblem(deliveryId, { reasonCode, error, ...compact({ httpStatus, retryAt }) });
    throw notDelivered(`${reasonCode}: ${error}`, {
      nonRetryable: isFinal,
      ...(retryAfterMs === undefined || retryAfterMs === 0 ? {} : { nextRetryDelay: retryAfterMs }),
    });
  }
}

const notDelivered = (message: string, options: { nonRetryable?: boolean; nextRetryDelay?: number }) =>
  ApplicationFailure.create({ type: 'ADAPTER_DELIVERY_FAILED', message, ...options });

/** Sent again as another event, it could be there twice. */
const identityChanged: Unacknowledged = {
  acknowledged: false,
  reasonCode: 'identity-changed',
  error: 'The identity or its tag has changed since the message was sent first: whether it arrived is not known.',
  isFinal: true,
};

export type AdapterDeliveryActivities = ReturnType<typeof createAdapterDeliveryActivities>;
