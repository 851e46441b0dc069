import { connect, type Socket } from 'node:net';

export interface LoadOptions {
  port: number;
  path: string;
  connections: number;
  seconds: number;
  /** The body of the next request. */
  body: () => string;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const headerEnd = Buffer.from('\r\n\r\n');

/** The length of the first response in these bytes, or undefined while it is not all there. */
function answerLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(headerEnd);
  if (end < 0) {
    return undefined;
  }
  const head = bytes.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200')) {
    throw new Error(bytes.toString());
  }
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? NaN);
  if (Number.isNaN(length)) {
    throw new Error(`an answer without its length: ${head}`);
  }
  const total = end + headerEnd.length + length;
  return bytes.length >= total ? total : undefined;
}

/**
 * Posts one request after the other on each of some kept-alive connections. It does no more than that: where client and
 * server share two cores, a client that costs as much as the server halves what is measured.
 *
 * @throws Error for a response that is not 200
 */
export async function load({ port, path, connections, seconds, body }: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const began = performance.now();
  const end = began + seconds * 1000;
  const run = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let sent = 0;
      let received: Buffer = Buffer.alloc(0);
      const send = (): void => {
        if (performance.now() >= end) {
          socket.end();
          resolve();
          return;
        }
        const text = body();
        sent = performance.now();
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        );
      };
      socket.on('data', (chunk: Buffer) => {
        try {
          received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
          const length = answerLength(received);
          if (length === undefined) {
            return;
          }
          received = received.subarray(length);
          latencies.push(performance.now() - sent);
          send();
        } catch (error) {
          socket.destroy();
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      socket.on('error', reject);
      socket.on('connect', send);
    });
  await Promise.all(
    Array.from({ length: connections }, () => run(connect({ port, host: '127.0.0.1', noDelay: true }))),
  );
  const tookSeconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => Number((latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(2));
  return {
    requests: latencies.length,
    perSecond: Math.round(latencies.length / tookSeconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
