import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { ListenError } from '../../../platform/http/server/listen-error';

/** What a URL leads to. */
export interface PreviewTarget {
  port: number;
  /** @throws Error while nothing is there */
  connect: () => Promise<Socket>;
  /** Connections of it, which end with it. */
  connections: Set<Duplex>;
}

const limits = { connections: 256, ofOne: 64, headerBytes: 16_384 } as const;

/** Headers that are for the next hop alone. */
const hopByHop = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'];
/** Credentials of callers, and the page that they come from: none reaches what is previewed. */
const requestOnly = [...hopByHop, 'host', 'cookie', 'authorization', 'referer'];
/** What would change more of a browser than the page that is shown, or ask its user for credentials. */
const responseOnly = [
  ...[...hopByHop, 'set-cookie', 'www-authenticate', 'proxy-authenticate', 'clear-site-data'],
  ...['strict-transport-security', 'alt-svc', 'service-worker-allowed'],
];

/**
 * The one place where previews are reached: a port of 127.0.0.1, by a host name that is the token of the URL. A browser has an origin
 * for each, and no cookies of others.
 *
 * @param find what a token leads to
 * @returns the port, and what closes it
 * @throws ListenError
 */
export async function startPreviewProxy(port: number, find: (token: string) => PreviewTarget | undefined) {
  const server = createServer({ maxHeaderSize: limits.headerBytes }, (request, response) => {
    const found = targetOf(request);
    if (found) {
      // What a program sends ends its own connection, and never the service.
      forward(request, response, found).catch(() => response.destroy());
    } else {
      answer(response, 404, 'There is no such preview, or it is over.');
    }
  });
  server.maxConnections = limits.connections;
  server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const found = targetOf(request);
    client.on('error', () => client.destroy());
    if (found) {
      upgrade(request, client, { head, target: found }).catch(() => client.destroy());
    } else {
      client.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    }
  });
  server.on('connect', (_request: IncomingMessage, client: Duplex) => client.destroy());
  server.on('clientError', (_error, client) => client.destroy());
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      reject(new ListenError(`WORKFLOW_RUNS_PREVIEW_PORT cannot be listened on: ${error.message}`));
    };
    server.once('error', failed).listen({ host: '127.0.0.1', port }, () => {
      server.off('error', failed);
      resolve();
    });
  });
  const { port: actual } = server.address() as AddressInfo;

  /** The token is the first label of the name: `<token>.localhost`. */
  function targetOf({ headers: { host = '' } }: IncomingMessage): PreviewTarget | undefined {
    const [, token] = /^([0-9a-f]{48})\.localhost(?::\d{1,5})?$/.exec(host.toLowerCase()) ?? [];
    return token === undefined ? undefined : find(token);
  }

  return {
    port: actual,
    urlOf: (token: string): string => `http://${token}.localhost:${actual}/`,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @throws Error while nothing is there, also when that shows once it is connected, or too much is connected */
async function connectTo({ connect, connections }: PreviewTarget): Promise<Socket> {
  if (connections.size >= limits.ofOne) {
    throw new Error('Too many connections.');
  }
  const socket = await connect();
  if (socket.destroyed) {
    // A request on it would have neither an answer nor an error.
    throw new Error('Nothing listens behind the connection.');
  }
  connections.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => connections.delete(socket));
  return socket;
}

async function forward(request: IncomingMessage, response: ServerResponse, target: PreviewTarget): Promise<void> {
  let socket: Socket;
  try {
    socket = await connectTo(target);
  } catch {
    answer(response, 502, notListening(target));
    return;
  }
  response.once('close', () => socket.destroy());
  if (request.destroyed) {
    socket.destroy();
    return;
  }
  const upstream = sendRequest({
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    headers: { ...passedOn(request.headers, target), connection: 'close' },
  });
  upstream.once('response', (answered) => {
    const { statusCode = 0, headers } = answered;
    if (statusCode < 200 || statusCode > 999) {
      upstream.destroy(new Error('a status that is none'));
      return;
    }
    response.writeHead(statusCode, answeredWith(headers, target));
    pipeline(answered, response, () => upstream.destroy());
  });
  upstream.on('error', () => (response.headersSent ? response.destroy() : answer(response, 502, notListening(target))));
  request.pipe(upstream);
}

async function upgrade(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  client: Duplex,
  { head, target }: { head: Buffer; target: PreviewTarget },
): Promise<void> {
  const socket = await connectTo(target);
  client.once('close', () => socket.destroy());
  socket.once('close', () => client.destroy());
  if (client.destroyed) {
    socket.destroy();
    return;
  }
  const upstream = sendRequest({
    createConnection: () => socket,
    method,
    path: url,
    headers: { ...passedOn(headers, target), connection: 'Upgrade', upgrade: headers.upgrade ?? '' },
  });
  upstream.on('error', () => client.destroy());
  // Whatever else it answers than the protocol that was asked for.
  upstream.once('response', () => client.destroy());
  upstream.once('upgrade', (answered, _socket, first) => {
    const lines = Object.entries({ ...answeredWith(answered.headers, target), ...switching(answered.headers) });
    const text = lines.flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}\r\n`));
    client.write(`HTTP/1.1 101 Switching Protocols\r\n${text.join('')}\r\n`, 'latin1');
    socket.write(head);
    client.write(first);
    client.pipe(socket).pipe(client);
  });
  upstream.end();
}

const switching = ({ connection = 'Upgrade', upgrade: protocol = '' }: IncomingHttpHeaders): IncomingHttpHeaders => ({
  connection,
  upgrade: protocol,
});

const ownOrigin = /^http:\/\/[0-9a-f]{48}\.localhost(?::\d{1,5})?$/i;

/** Headers of a request as what is previewed has them: it serves a port of its own loopback. */
function passedOn(headers: IncomingHttpHeaders, { port }: PreviewTarget): IncomingHttpHeaders {
  const host = `localhost:${port}`;
  const kept = Object.entries(headers).filter(([name]) => !requestOnly.includes(name));
  const { origin } = headers;
  return {
    ...Object.fromEntries(kept),
    host,
    ...(origin !== undefined && ownOrigin.test(origin) && { origin: `http://${host}` }),
  };
}

function answeredWith(headers: IncomingHttpHeaders, { port }: PreviewTarget): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !responseOnly.includes(name));
  const { location } = headers;
  const own = new RegExp(`^https?://(?:localhost|127\\.0\\.0\\.1):${port}(?=/|$)`, 'i');
  return {
    ...Object.fromEntries(kept),
    ...(location !== undefined && { location: location.replace(own, '') || '/' }),
    'referrer-policy': 'no-referrer',
  };
}

const notListening = ({ port }: PreviewTarget): string =>
  `The program of the preview does not answer on port ${port}, or not yet.`;

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}
