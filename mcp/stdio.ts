import { Readable, type Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type BoardServerOptions, createBoardServer } from './server';

export interface StdioOptions extends BoardServerOptions {
  input: NodeJS.ReadableStream;
  output: Writable;
  /** Ends the server. */
  signal: AbortSignal;
}

/** Serves one client over standard streams, until it closes the input. */
export async function serveOverStdio({ input, output, signal, ...options }: StdioOptions): Promise<void> {
  const server = createBoardServer(options);
  const ended = new Promise<void>((resolve) => {
    server.server.onclose = resolve;
  });
  const close = (): void => void server.close();
  input.once('end', close);
  signal.addEventListener('abort', close);
  await server.connect(new StdioServerTransport(new Readable().wrap(input), output));
  await ended;
}
