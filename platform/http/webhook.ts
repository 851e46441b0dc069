import { createHash, createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { errorMessage } from '../errors/app-error';
import { filteredAgents } from './filtered-fetch';

export interface WebhookSettings {
  /** Key of the signature; unsigned without one. */
  secret: string | undefined;
  /** Whether receivers may have an address of a private network, or of this machine; never one of a link. */
  allowPrivate: boolean;
  timeoutMs: number;
}

export interface WebhookMessage {
  /** The same for every attempt: receivers know repetitions by it. */
  id: string;
  at: Date;
  /** JSON. */
  body: string;
}

/** What came of one attempt. */
export interface WebhookOutcome {
  /** The receiver's response; absent when there was none. */
  status?: number;
  error?: string;
  /** The receiver is at an address that is never talked to. */
  forbidden?: boolean;
}

/** The key that a secret is, as the libraries of that specification write their keys; any other text is the key itself. */
const keyOf = (secret: string): Buffer | string =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;

/** The secret of one of several senders that share one: a receiver that can verify one sender cannot pose as another. */
export const derivedSecret = (secret: string, sender: string): string =>
  `whsec_${createHmac('sha256', keyOf(secret)).update(sender).digest('base64')}`;

/** The headers of the Standard Webhooks specification, so that receivers verify them with a library. */
function signedHeaders(secret: string | undefined, message: WebhookMessage): Record<string, string> {
  const id = `msg_${createHash('sha256').update(message.id).digest('hex').slice(0, 32)}`;
  const timestamp = String(Math.floor(message.at.getTime() / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) {
    return headers;
  }
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${message.body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/**
 * Posts to the receivers of webhooks. An address is checked when the connection to it is made, so that a name cannot resolve to
 * another address than the checked one; redirects are not followed.
 */
export function createWebhookSender({ secret, allowPrivate, timeoutMs }: WebhookSettings) {
  const agents = filteredAgents({ allowPrivate });

  return {
    /** Posts once; every way it can fail is an outcome. */
    async send(url: URL, message: WebhookMessage): Promise<WebhookOutcome> {
      try {
        agents.assertAllowed(url);
      } catch (error) {
        return { error: errorMessage(error), forbidden: true };
      }
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
              'content-length': Buffer.byteLength(message.body),
              ...signedHeaders(secret, message),
            },
          },
          (response) => {
            resolve({ status: response.statusCode ?? 0 });
            // Its body is of no interest, however long it is.
            response.destroy();
          },
        );
        request.on('error', failed);
        request.end(message.body);
      });
    },
  };
}

export type WebhookSender = ReturnType<typeof createWebhookSender>;
