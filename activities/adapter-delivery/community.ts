import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import type { CommunityEvent } from '../../contracts/chat/community-event';
import { printable } from '../../platform/text/printable';
import { eventKinds } from '../../providers/communication/community/event';
import { SigningError } from '../../providers/communication/community/signer';
import type { Unacknowledged } from '../../providers/communication/outcome';
import type { Community } from '../shared/adapter-connections';

/**
 * The message as an event of the channel. Made again for another attempt it has the same id, by which the relay knows
 * repetitions, as long as identity and tag are the same.
 */
export async function messageEvent(
  { sign, authTag }: Community,
  delivery: AdapterDelivery,
): Promise<CommunityEvent | Unacknowledged> {
  const { id, channelId, externalThreadId, title, message, createdAt } = delivery;
  if (!sign || channelId === undefined) {
    const error = 'The adapter has neither credentialRef nor command: nothing can be signed.';
    return { acknowledged: false, reasonCode: 'credential-not-configured', error, isFinal: false };
  }
  try {
    return await sign({
      kind: eventKinds.message,
      created_at: Math.floor(Date.parse(createdAt) / 1000),
      tags: [
        ['h', channelId],
        ...(externalThreadId === undefined ? [] : [['e', externalThreadId, '', 'reply']]),
        // Two deliveries of the same text in the same second are two events.
        ['delivery', id],
        ...(authTag ? [authTag] : []),
      ],
      content: printable(title === undefined ? message : `${title}\n\n${message}`),
    });
  } catch (error) {
    if (error instanceof SigningError) {
      return { acknowledged: false, reasonCode: error.reasonCode, error: error.message, isFinal: false };
    }
    throw error;
  }
}
