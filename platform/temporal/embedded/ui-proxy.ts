import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listen } from '../../http/server/server';
import type { SocketAddress } from './private-ui-address';

export interface UiProxyOptions {
  /** Address and port it listens on. */
  host?: string;
  port: number;
  /** Further `host[:port]` it is opened by, besides the loopback names with its own port. */
  allowedHosts?: readonly string[];
  /** Where the UI's own server listens now; `undefined` while it does not. */
  target: () => SocketAddress | undefined;
}

export interface UiProxy {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** How long a request may take to arrive, in milliseconds. */
const requestTimeoutMs = 30_000;
const closeGraceMs = 1_000;

/** What concerns one connection, and not the next one. */
const hopByHop = ['connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/**
 * Serves the Temporal UI to this machine's own pages. The UI of the Temporal CLI checks neither `Host` nor `Origin`: a
 * page on the web could use it by DNS rebinding. Requests are streamed both ways.
 *
 * @throws ListenError when the port is taken
 */
export async function startUiProxy({ host = '127.0.0.1', target, ...options }: UiProxyOptions): Promise<UiProxy> {
  const allowed = new Set(options.allowedHosts);
  const server = await listen(
    (incoming, outgoing) => {
      const problem = problemOf(incoming, allowed);
      if (problem) {
        refuse(outgoing, problem.status, problem.message);
        return;
      }
      const address = target();
      if (!address) {
        refuse(outgoing, 502, 'The Temporal UI is not running.');
        return;
      }
      forward(incoming, outgoing, address);
    },
    { host, port: options.port, setting: 'TEMPORAL_UI_PORT', requestTimeoutMs },
  );
  for (const name of ['localhost', '127.0.0.1', '[::1]']) {
    allowed.add(`${name}:${server.port}`);
  }
  // Nothing of the UI is a WebSocket.
  server.server.on('upgrade', (_request, socket) => socket.on('error', () => undefined).destroy());
  server.server.on('clientError', (_error, socket) => socket.destroy());
  return { url: server.url, port: server.port, close: () => server.close(closeGraceMs) };
}

/** Why a request is not for the UI, or does not come from its own pages or the address bar. */
function problemOf({ url, headers }: IncomingMessage, allowed: ReadonlySet<string>) {
  if (!url?.startsWith('/')) {
    return { status: 400, message: 'The request target is not a path.' };
  }
  const host = headers.host?.toLowerCase() ?? '';
  if (!allowed.has(host)) {
    return { status: 403, message: 'The Temporal UI is not served under this host name.' };
  }
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && origin.replace(/^https?:\/\//, '') !== host) {
    return { status: 403, message: 'Pages of other origins may not call the Temporal UI.' };
  }
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return { status: 403, message: 'Open the Temporal UI by its address: links from other pages are refused.' };
  }
  return undefined;
}

function refuse(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${message}\n`);
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, { host, port }: SocketAddress): void {
  const { method, url: path } = incoming;
  const headers = withoutHopByHop(incoming.headers);
  const upstream = request({ host, port, method, path, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, withoutHopByHop(answer.headers));
    answer.pipe(outgoing);
    answer.once('error', () => outgoing.destroy());
  });
  upstream.once('error', () => {
    if (outgoing.headersSent) {
      outgoing.destroy();
    } else {
      refuse(outgoing, 502, 'The Temporal UI does not respond.');
    }
  });
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

const withoutHopByHop = <Headers extends object>(headers: Headers): Partial<Headers> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name))) as Partial<Headers>;
