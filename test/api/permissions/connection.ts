import { Agent, request } from 'node:http';
import type { RequestParts } from './operations';

export interface Reply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  /** JSON, or the text where it is none. */
  body: unknown;
}

/** One caller's connection: requests go one after the other, with whatever headers, `Host` too. */
export interface CallerConnection {
  send(parts: RequestParts): Promise<Reply>;
  close(): void;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export function connectionTo(url: string, headers: Record<string, string>): CallerConnection {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: ({ method, path, headers: own, body }) =>
      new Promise((resolve, reject) => {
        const sized = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
        const all = { ...own, ...sized, ...headers };
        const sent = request({ hostname, port, method, path, headers: all, agent }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode = 0, headers: answered } = response;
            resolve({ status: statusCode, headers: answered, body: parse(Buffer.concat(chunks).toString()) });
          });
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
