import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The key that the stand-in accepts; nothing else does. */
export const modelKey = 'stand-in-key-0123456789abcdef';

/** The file that the stand-in has an agent write, and its answer afterwards. */
export const edit = { path: 'greeting.txt', content: 'Hello from the stand-in.\n', summary: 'Wrote greeting.txt.' };

export interface ModelRequest {
  /** `METHOD /path`, without its query. */
  call: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** An answer of a model API: a JSON document, or the events of a stream. */
export interface ModelResponse {
  status: number;
  body?: unknown;
  events?: { event?: string; data: unknown }[];
}

/** The wire format of one model API. */
export interface WireFormat {
  /** `undefined` for a call that is not of this API. */
  respond(request: ModelRequest): ModelResponse | undefined;
}

export interface ModelApi {
  /** `http://127.0.0.1:<port>` */
  url: string;
  requests: ModelRequest[];
  close(): Promise<void>;
}

/** A server on this machine in place of a model's: a small edit for the first prompt, and words for what follows. */
export async function startModelApi(format: WireFormat): Promise<ModelApi> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { pathname } = new URL(incoming.url ?? '/', 'http://model');
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      const request = { call: `${incoming.method} ${pathname}`, headers: incoming.headers, body };
      requests.push(request);
      const { status, body: document, events } = format.respond(request) ?? { status: 404, body: {} };
      if (events) {
        outgoing.writeHead(status, { 'content-type': 'text/event-stream' });
        outgoing.end(events.map(written).join(''));
      } else {
        outgoing.writeHead(status, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify(document));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const written = ({ event, data }: { event?: string; data: unknown }): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Whether a document has an object with this field and value anywhere: agents nest what they send differently. */
export function mentions(document: unknown, field: string, value?: string): boolean {
  if (typeof document !== 'object' || document === null) {
    return false;
  }
  return Object.entries(document).some(
    ([key, child]) => (key === field && (value === undefined || child === value)) || mentions(child, field, value),
  );
}
