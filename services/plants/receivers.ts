import { createHash, createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
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

/** What came of one attempt. */
export interface SendOutcome {
  status?: number;
  error?: string;
  /** The receiver is at an address that is never talked to. */
  forbidden?: boolean;
}

/** Whether trying again is of no use. */
export const receiverRefusal = ({ status, forbidden }: SendOutcome): boolean => forbidden === true || status === 410;

/** The name of a receiver where its URL, which may hold a secret, must not be. */
const receiverId = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 12);

/** The headers of the Standard Webhooks specification, so that receivers verify them with a library. */
function signedHeaders(secret: string | undefined, { deliveryId, at }: PlantMessage, body: string) {
  const id = `msg_${createHash('sha256').update(deliveryId).digest('hex').slice(0, 32)}`;
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  // As the libraries of that specification write their keys; any other text is the key as it is.
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/**
 * Those who are told of new plants. An address is checked when the connection to it is made, so that a name cannot lead
 * elsewhere than where it was looked up; redirects are not followed.
 */
export function createReceivers({ urls, secret, allowPrivate, timeoutMs }: ReceiverSettings) {
  const known = new Map(urls.map((url) => [receiverId(url), new URL(url)]));
  const filter = { allowPrivateIPAddress: allowPrivate, allowMetaIPAddress: false };
  const agents = { http: new RequestFilteringHttpAgent(filter), https: new RequestFilteringHttpsAgent(filter) };

  return {
    ids: (): string[] => [...known.keys()],

    /** Posts the plant once; every way it can fail is an outcome. */
    send(receiver: string, message: PlantMessage): Promise<SendOutcome> {
      const url = known.get(receiver);
      if (!url) return Promise.resolve({ error: 'The receiver is not configured any more.', forbidden: true });
      const body = exactJson(message.plant);
      const secure = url.protocol === 'https:';
      return new Promise((resolve) => {
        const failed = ({ message: error }: Error): void =>
          resolve({ error, ...(/is not allowed/.test(error) ? { forbidden: true } : {}) });
        const request = (secure ? requestHttps : requestHttp)(
          url,
          {
            method: 'POST',
            agent: secure ? agents.https : agents.http,
            signal: AbortSignal.timeout(timeoutMs),
            headers: {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
              ...signedHeaders(secret, message, body),
            },
          },
          (response) => {
            resolve({ status: response.statusCode ?? 0 });
            // What it says is of no interest, however long it is.
            response.destroy();
          },
        );
        request.on('error', failed);
        request.end(body);
      });
    },
  };
}

export type Receivers = ReturnType<typeof createReceivers>;
