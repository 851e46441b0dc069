import { createHash } from 'node:crypto';
import { createWebhookSender, type WebhookOutcome } from '../../platform/http/webhook';
import { exactJson } from '../../platform/json/exact';
import type { NewPlant } from './plant';

export interface ReceiverSettings {
  urls: readonly string[];
  /** Key of the signature; unsigned without one. */
  secret: string | undefined;
  /** Whether receivers may have an address of a private network, or of this machine. */
  allowPrivate: boolean;
  timeoutMs: number;
}

export interface PlantMessage {
  deliveryId: string;
  at: Date;
  plant: NewPlant;
}

/** Whether trying again is of no use. */
export const receiverRefusal = ({ status, forbidden }: WebhookOutcome): boolean => forbidden === true || status === 410;

/** The name of a receiver where its URL, which may hold a secret, must not be. */
const receiverId = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 12);

/** The receivers that are notified of new plants. */
export function createReceivers({ urls, secret, allowPrivate, timeoutMs }: ReceiverSettings) {
  const receivers = new Map(urls.map((url) => [receiverId(url), new URL(url)]));
  const webhooks = createWebhookSender({ secret, allowPrivate, timeoutMs });

  return {
    ids: (): string[] => [...receivers.keys()],

    /** Posts the plant once; every way it can fail is an outcome. */
    async send(receiver: string, { deliveryId: id, at, plant }: PlantMessage): Promise<WebhookOutcome> {
      const url = receivers.get(receiver);
      if (!url) {
        return { error: 'The receiver is no longer configured.', forbidden: true };
      }
      return webhooks.send(url, { id, at, body: exactJson(plant) });
    },
  };
}

export type Receivers = ReturnType<typeof createReceivers>;
