import { closeSync, constants, openSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import type { Egress } from '../../domain/sandbox/network';
import type { EgressLog } from './egress-log';
import { type EgressPolicy, type EgressTarget, egressTarget, type Resolve, resolveHost } from './egress-target';

/** The name of the socket in its directory. */
export const socketName = 'proxy';

const limits = { connections: 256, connectMs: 30_000 } as const;

export interface EgressProxyOptions {
  /** Shown to the sandbox; the socket is in it. */
  directory: string;
  policy: EgressPolicy;
  log: EgressLog;
  resolve?: Resolve | undefined;
}

export type CloseProxy = (options: { keepsDirectory: boolean }) => Promise<void>;

/** Headers that are for the proxy, and not for the server. */
const hopByHop = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'];

/**
 * The only way out of a sandbox: an HTTP proxy on a socket in a directory. Each tunnel and each request is judged, and goes to
 * the address that was judged.
 *
 * @returns closes it with all its connections; the directory stays for the proxy of the next worker when it is asked for
 */
export async function startEgressProxy({
  directory,
  policy,
  log,
  resolve = resolveHost,
}: EgressProxyOptions): Promise<CloseProxy> {
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    // What a client or a server sends ends its own connection, and never the worker.
    forward(request, response).catch(() => response.destroy());
  });
  server.maxConnections = limits.connections;
  server.on('connection', (socket: Socket) => hold(socket));
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnel(request, client, head).catch(() => client.destroy());
  });
  server.on('clientError', (_error, client) => client.destroy());

  await mkdir(directory, { recursive: true, mode: 0o711 });
  await chmod(directory, 0o711);
  await rm(join(directory, socketName), { force: true });
  // The name of a socket may have 107 characters: that of its directory may have more.
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed).listen(`/proc/self/fd/${descriptor}/${socketName}`, done);
    });
  } finally {
    closeSync(descriptor);
  }
  await chmod(join(directory, socketName), 0o666);
  server.unref();

  return async ({ keepsDirectory }) => {
    const closed = new Promise((done) => server.close(done));
    for (const socket of sockets) {
      socket.destroy();
    }
    await closed;
    if (!keepsDirectory) {
      await rm(directory, { recursive: true, force: true });
    }
  };

  function hold(socket: Duplex): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  }

  async function judged(egress: Egress): Promise<EgressTarget | { problem: string }> {
    try {
      const target = await egressTarget(policy, egress, resolve);
      log.record(egress, target);
      return target;
    } catch {
      return { problem: `${egress.host} is not known.` };
    }
  }

  async function tunnel({ url = '' }: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const egress = authorityOf(url);
    const target = egress ? await judged(egress) : { problem: 'A tunnel needs a host and a port.' };
    if (!egress || 'problem' in target || !target.allowed || target.address === undefined) {
      client.end(refusalOf(target));
      return;
    }
    if (client.destroyed) {
      return;
    }
    const upstream = connect({ host: target.address, port: egress.port, timeout: limits.connectMs });
    hold(upstream);
    upstream.once('timeout', () => upstream.destroy());
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    const egress = url?.protocol === 'http:' ? requestOf(url, request.method ?? 'GET') : undefined;
    const target = egress ? await judged(egress) : { problem: 'The proxy takes requests in plain HTTP, and tunnels.' };
    if (!url || !egress || 'problem' in target || !target.allowed || target.address === undefined) {
      response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(messageOf(target));
      return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => !hopByHop.includes(name));
    const upstream = sendRequest({
      host: target.address,
      port: egress.port,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      // The name that was judged, and no other: a server may have several behind one address.
      headers: { ...Object.fromEntries(headers), host: url.host, connection: 'close' },
      agent: false,
    });
    upstream.once('response', (answer) => {
      const { statusCode = 0, headers: received } = answer;
      if (statusCode < 200 || statusCode > 999) {
        upstream.destroy(new Error('a status that is none'));
        return;
      }
      response.writeHead(statusCode, received);
      pipeline(answer, response, () => upstream.destroy());
    });
    upstream.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }
}

function authorityOf(url: string): Egress | undefined {
  const [, name, v6, port] = /^(?:([^:[\]/@\s]+)|\[([0-9a-f:.]+)\]):(\d{1,5})$/i.exec(url) ?? [];
  const host = name ?? v6;
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
}

const requestOf = ({ hostname, port, pathname, search }: URL, method: string): Egress => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: port === '' ? 80 : Number(port),
  request: { method, path: `${pathname}${search}` },
});

type Refused = EgressTarget | { problem: string };

const messageOf = (refused: Refused): string =>
  'problem' in refused ? refused.problem : `The sandbox preset of the run does not allow this: ${refused.rule}.`;

const refusalOf = (refused: Refused): string =>
  `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${messageOf(refused)}\n`;
