import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { listen } from '../../platform/http/server/server';

export interface Received {
  body: string;
  headers: IncomingHttpHeaders;
}

/** A receiver of webhooks on this machine that responds as configured, and records what it got. */
export async function aReceiver(answer: (nth: number) => number = () => 200) {
  const received: Received[] = [];
  const server = await listen(
    async (request, response) => {
      let body = '';
      for await (const chunk of request) {
        body += String(chunk);
      }
      received.push({ body, headers: request.headers });
      response.writeHead(answer(received.length)).end();
    },
    { host: '127.0.0.1', port: 0 },
  );
  return { url: `${server.url}/plant/webhook`, received, close: () => server.close() };
}

/** The signature that the Standard Webhooks specification asks for, computed as a receiver would. */
export function expectedSignature(secret: string, { body, headers }: Received): string {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers as Record<string, string>;
  return `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
