import type { AdapterDelivery, AdapterSend } from '../../../contracts/chat/adapter-delivery';
import { AppError, assertFound, conflict, errorMessage, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import { operationTime } from '../../../platform/operations/operation';
import type { AdapterRecord } from '../../../stores/chat/adapter-store';
import { assertAllowed } from '../../governance/assert-allowed';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { type AdapterContext, assertEnabled } from './adapter';

const redact = createRedactor();

/** Messages of one adapter that wait for the other side. */
export const maxPending = 1_000;

/** @throws AppError 400 for fields that the kind of adapter has no use for, 409 for one that cannot send */
async function channelOf(
  { adapterChannels }: Pick<AdapterContext, 'adapterChannels'>,
  record: AdapterRecord,
  { channelId, externalThreadId }: AdapterSend,
): Promise<string | undefined> {
  const { id: adapterId } = record;
  if (record.kind !== 'community') {
    const given = Object.entries({ channelId, externalThreadId }).filter(([, value]) => value !== undefined);
    if (given.length > 0) {
      const message = 'is for community adapters: a webhook has one destination, and no threads';
      throw validationError(given.map(([path]) => ({ path, message })));
    }
    if (!record.webhookUrl) {
      throw conflict(`The adapter ${adapterId} has no webhookUrl.`, { adapterId }, 'ADAPTER_NOT_CONFIGURED');
    }
    return undefined;
  }
  if (externalThreadId !== undefined && !/^[0-9a-f]{64}$/.test(externalThreadId)) {
    throw validationError([{ path: 'externalThreadId', message: 'must be the id of an event of the community' }]);
  }
  if (record.credentialRef === null && record.command === null) {
    const message = `The adapter ${adapterId} has neither credentialRef nor command: nothing can be signed.`;
    throw conflict(message, { adapterId }, 'ADAPTER_NOT_CONFIGURED');
  }
  const channel = channelId ?? (await adapterChannels.mapped(adapterId))?.channelId;
  if (channel === undefined) {
    const message = `The adapter ${adapterId} has no enabled channel: name one with channelId, or map one.`;
    throw conflict(message, { adapterId }, 'ADAPTER_NOT_CONFIGURED');
  }
  return channel;
}

/**
 * Records a message and has it delivered. What looks like a secret is taken out of it first.
 *
 * @throws AppError 400, 403, 404, 409, 429
 */
export async function requestDelivery(
  context: AdapterContext,
  record: AdapterRecord,
  { body, auth }: { body: AdapterSend; auth: Pick<AuthContext, 'actor'> },
): Promise<AdapterDelivery> {
  const { adapterDeliveries, board, log, squad, startDelivery } = context;
  const { id: adapterId, kind } = record;
  const { taskId, squadMessageId, externalThreadId } = body;
  assertEnabled(record);
  const channelId = await channelOf(context, record, body);
  if (taskId !== undefined) {
    assertFound(await board.get(taskId), 'task', taskId);
  }
  if (squadMessageId !== undefined) {
    assertFound(await squad.get(squadMessageId), 'squad message', squadMessageId);
  }
  const message = redact(plainField(body.message, 'message'));
  const title = body.title === undefined ? undefined : redact(plainField(body.title, 'title'));
  const subject = { adapterId, kind, message, ...compact({ title, channelId, externalThreadId, squadMessageId }) };
  await assertAllowed(context, 'external-message', {
    taskId,
    actor: auth.actor,
    also: ['communication-message'],
    subject,
  });
  if ((await adapterDeliveries.countPending(adapterId)) >= maxPending) {
    throw new AppError('RATE_LIMITED', {
      status: 429,
      message: `The adapter ${adapterId} has ${maxPending} messages that wait for the other side.`,
      details: { adapterId, retryAfterMs: 60_000 },
    });
  }
  const at = operationTime().toISOString();
  const delivery = await adapterDeliveries.request({
    id: newItemId('delivery'),
    adapterId,
    kind,
    state: 'pending',
    message,
    ...compact({ title, taskId, squadMessageId, channelId, externalThreadId }),
    requestedBy: auth.actor,
    attempts: 0,
    createdAt: at,
    updatedAt: at,
  });
  try {
    await startDelivery(delivery);
    await adapterDeliveries.markStarted(delivery.id);
  } catch (error) {
    // It is recorded: the API starts later what no workflow delivers yet.
    log.warn({ deliveryId: delivery.id, error: errorMessage(error) }, 'adapter delivery deferred');
  }
  return delivery;
}
