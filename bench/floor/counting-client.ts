import { connect, type Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

export interface CountedLoad {
  url: string;
  connections: number;
  seconds: number;
}

export interface Counted {
  requestsPerSecond: number;
  total: number;
  p50Ms: number;
  p99Ms: number;
  bytesPerSecond: number;
}

/** Reads into one buffer: what a response is made of is nothing to it but its length. */
const bufferBytes = 262_144;
const longestHead = 8_192;

/**
 * Sends one GET after the other on each connection, and counts the bytes of the responses: a client that makes texts of lists of
 * megabytes takes more of the processor than the service that sends them.
 *
 * @throws Error for a response without Content-Length, or that is no success
 */
export async function countResponses({ url, connections, seconds }: CountedLoad): Promise<Counted> {
  const latency = createHistogram();
  const until = performance.now() + seconds * 1_000;
  let [total, bytes] = [0, 0];
  const { hostname, port, pathname, search } = new URL(url);
  const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`;

  const perform = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let [left, sentAt] = [0, 0];
      const send = (socket: Socket): void => {
        sentAt = performance.now();
        socket.write(request);
      };
      const read = (length: number, buffer: Uint8Array): boolean => {
        left =
          left === 0 ? restOf(Buffer.from(buffer.buffer, 0, Math.min(length, longestHead)), length) : left - length;
        bytes += length;
        if (left === 0) {
          total += 1;
          latency.record(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
          if (performance.now() < until) {
            send(socket);
          } else {
            socket.end();
            resolve();
          }
        }
        return true;
      };
      const socket: Socket = connect({
        ...{ host: hostname, port: Number(port) },
        onread: { buffer: Buffer.alloc(bufferBytes), callback: (length, buffer) => read(length, buffer) },
      });
      socket.once('connect', () => send(socket)).once('error', reject);
    });

  await Promise.all(Array.from({ length: connections }, perform));
  return {
    requestsPerSecond: Math.round(total / seconds),
    total,
    p50Ms: Math.round(latency.percentile(50) / 1_000),
    p99Ms: Math.round(latency.percentile(99) / 1_000),
    bytesPerSecond: Math.round(bytes / seconds),
  };
}

/** How many bytes of a response are still to come, by its head. */
function restOf(beginning: Buffer, length: number): number {
  const text = beginning.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [, declared] = /^content-length: (\d+)/im.exec(text.slice(0, end)) ?? [];
  if (end < 0 || declared === undefined || !text.startsWith('HTTP/1.1 200')) {
    throw new Error(`no response that can be counted: ${text.slice(0, 80)}`);
  }
  return Number(declared) + end + 4 - length;
}
