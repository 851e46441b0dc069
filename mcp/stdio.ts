import { Readable, type Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type BoardServerOptions, createBoardServer } from './server';

export interface StdioOptions extends BoardServerOptions {
  input: NodeJS.ReadableStream;
  output: Writable;
  /** Ends the server. */
  signal: AbortSignal;
}

/** How long requests that have no response yet are waited for once the input is closed. */
const maxRemainingMs = 30_000;

/** The transport, which knows the requests that have no response yet. */
class CountingTransport extends StdioServerTransport {
  private readonly open = new Set<unknown>();
  private onIdle: (() => void) | undefined;

  override onmessage = (message: JSONRPCMessage): void => {
    if ('method' in message && 'id' in message) {
      this.open.add(message.id);
    }
    // A request that its client has cancelled is not answered.
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.settle(message.params?.requestId);
    }
  };

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message)) {
      this.settle(message.id);
    }
  }

  /** Calls back once every request that was received has its response. */
  whenIdle(onIdle: () => void): void {
    this.onIdle = onIdle;
    this.settle(undefined);
  }

  private settle(id: unknown): void {
    this.open.delete(id);
    if (this.open.size === 0) {
      this.onIdle?.();
    }
  }
}

/** Serves one client over standard streams, until it has closed the input and has the responses to its requests. */
export async function serveOverStdio({ input, output, signal, ...options }: StdioOptions): Promise<void> {
  const server = createBoardServer(options);
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
  });
  const requests = new Readable().wrap(input);
  const transport = new CountingTransport(requests, output);
  const close = (): void => void server.close();
  requests.once('end', () => {
    transport.whenIdle(close);
    setTimeout(close, maxRemainingMs).unref();
  });
  signal.addEventListener('abort', close);
  await server.connect(transport);
  await ended;
}
