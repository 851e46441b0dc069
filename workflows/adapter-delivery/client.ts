import type { Client } from '@temporalio/client';
import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { adapterDeliveryId, type AdapterDeliveryInput, type DeliveryTimings } from './messages';

/** Has workers deliver a recorded message, or joins the execution that does. */
export type StartDelivery = (delivery: Pick<AdapterDelivery, 'id' | 'adapterId'>) => Promise<void>;

/** How long Temporal may take to accept a start, in milliseconds; one that took longer is repeated. */
const startWithinMs = 5_000;

const pending = () =>
  new AppError('DELIVERY_PENDING', {
    status: 503,
    message: 'The workflow engine has not accepted the delivery in time; it is started later.',
    details: { retryAfterMs: 5_000 },
  });

/** @throws AppError 503 when Temporal does not accept it in time */
export const createDeliveryStart =
  (client: Client, timings: DeliveryTimings): StartDelivery =>
  async ({ id: deliveryId, adapterId }) => {
    await withinDeadline(client, { pending, withinMs: startWithinMs }, () =>
      client.workflow.start<(input: AdapterDeliveryInput) => Promise<string>>('adapterDelivery', {
        workflowId: adapterDeliveryId(deliveryId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `message by ${adapterId}`,
        args: [{ deliveryId, timings }],
      }),
    );
  };
