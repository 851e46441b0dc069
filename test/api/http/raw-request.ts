import { request } from 'node:http';
import { connect } from 'node:net';

export interface RawReply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

export interface RawRequest {
  method?: string;
  /** Sent as it is; `fetch` would tidy it up. */
  path: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  agent?: false;
}

/** One HTTP request that nothing normalises on its way. */
export function rawRequest(url: string, { method = 'GET', path, headers = {}, body }: RawRequest): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Writes bytes to a socket and returns everything that came back until the other side ended it. */
export function rawBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

/** Writes bytes to a socket and resets the connection at once, without reading what comes back. */
export function resetAfter(url: string, bytes: string | Buffer): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(bytes, () => socket.resetAndDestroy());
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}
