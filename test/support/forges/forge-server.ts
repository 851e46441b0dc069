import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the stand-in of a forge has received it. */
export interface ForgeRequest {
  method: string;
  /** Decoded segments would hide which project is meant: the path is as it was sent. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

export interface ForgeResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Something that goes wrong once for the next request that matches. */
export interface Fault {
  /** Of `METHOD /path`. */
  on: RegExp;
  /**
   * `lost`: it is done, and the connection is closed instead of a response. `held`: it is done, and nothing follows. `cut`: it
   * is not even done.
   */
  answer: 'lost' | 'held' | 'cut' | ForgeResponse;
}

export interface ForgeServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  requests: ForgeRequest[];
  /** Adds a fault for each of the next matching requests. */
  fail(fault: Fault, times?: number): void;
  /** Closes the connections of requests whose response is held. */
  release(): void;
  /** How many requests matched, of `METHOD /path`. */
  count(pattern: RegExp): number;
  close(): Promise<void>;
}

type Raw = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A server that speaks the wire format of a forge, as `handle` knows it; `raw` may take a request before that. */
export async function startForgeServer(
  handle: (request: ForgeRequest, url: string) => ForgeResponse,
  raw: Raw = () => false,
): Promise<ForgeServer> {
  const faults: Fault[] = [];
  const requests: ForgeRequest[] = [];
  const held: IncomingMessage[] = [];
  const server = createServer((incoming, outgoing) => {
    if (raw(incoming, outgoing)) {
      return;
    }
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://forge');
      const text = Buffer.concat(chunks).toString();
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      const request = { method: incoming.method ?? '', path, query, headers: incoming.headers, body };
      requests.push(request);
      const index = faults.findIndex(({ on }) => on.test(`${request.method} ${path}`));
      const [fault] = index < 0 ? [] : faults.splice(index, 1);
      if (fault?.answer === 'cut') {
        incoming.socket.destroy();
        return;
      }
      const reply = typeof fault?.answer === 'object' ? fault.answer : handle(request, server_.url);
      if (fault?.answer === 'lost') {
        incoming.socket.destroy();
      }
      if (fault?.answer === 'held') {
        held.push(incoming);
      }
      if (fault?.answer === 'lost' || fault?.answer === 'held') {
        return;
      }
      outgoing.writeHead(reply.status, { 'content-type': 'application/json; charset=utf-8', ...reply.headers });
      outgoing.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const server_: ForgeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (fault, times = 1) => faults.push(...Array.from({ length: times }, () => fault)),
    release: () => held.splice(0).forEach(({ socket }) => socket.destroy()),
    count: (pattern) => requests.filter(({ method, path }) => pattern.test(`${method} ${path}`)).length,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return server_;
}

/** One page of a list, with the `Link` header that links to the others. */
export function page(
  items: readonly unknown[],
  { path, query }: ForgeRequest,
  { url, usual }: { url: string; usual: number },
): ForgeResponse {
  const size = Math.min(Number(query.get('per_page') ?? usual), 100);
  const number = Number(query.get('page') ?? 1);
  const last = Math.max(Math.ceil(items.length / size), 1);
  const at = (to: number, rel: string): string => {
    const params = new URLSearchParams(query);
    params.set('page', String(to));
    return `<${url}${path}?${params.toString()}>; rel="${rel}"`;
  };
  const links = [...(number < last ? [at(number + 1, 'next'), at(last, 'last')] : []), at(1, 'first')];
  return { status: 200, body: items.slice((number - 1) * size, number * size), headers: { link: links.join(', ') } };
}
