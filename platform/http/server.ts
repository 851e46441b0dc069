import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The port is taken, or may not be listened on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** For WebSocket upgrades. */
  readonly server: Server;
  /**
   * Stops accepting, lets running requests finish for at most `graceMs` and then cuts them off. Upgraded connections
   * are their owner's to close, before this.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** The setting the port comes from, for whoever finds it taken. */
  setting?: string;
  /** How long a caller may take to send its whole request. */
  requestTimeoutMs?: number;
  /** How long it may take to send the headers of it; the same when absent. */
  headersTimeoutMs?: number;
  /** How long a connection without a request is kept; the default is Node's, 5 s. */
  keepAliveMs?: number;
}

const defaultGraceMs = 10_000;

type Address = Pick<ListenOptions, 'host' | 'port' | 'setting'>;

const explain = (error: NodeJS.ErrnoException, { host, port, setting }: Address): Error => {
  if (error.code === 'EADDRINUSE') {
    const choose = setting === undefined ? '.' : `, or choose another with ${setting} (0 takes a free one).`;
    return new ListenError(`Port ${port} on ${host} is in use. Stop what listens there${choose}`);
  }
  if (error.code === 'EACCES') return new ListenError(`Port ${port} on ${host} may not be listened on by this user.`);
  if (error.code === 'EADDRNOTAVAIL') return new ListenError(`${host} is not an address of this machine.`);
  return error;
};

function bind(server: Server, address: Address): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(explain(error, address));
    server.once('error', failed);
    server.listen({ host: address.host, port: address.port }, () => {
      server.off('error', failed);
      resolve(server.address() as AddressInfo);
    });
  });
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/**
 * Serves `handler` over HTTP.
 *
 * @throws ListenError with what to do about it when the port cannot be had
 */
export async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
  { requestTimeoutMs = 30_000, headersTimeoutMs = requestTimeoutMs, keepAliveMs, ...wanted }: ListenOptions,
): Promise<RunningServer> {
  let closing = false;
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveMs },
    (request, response) => {
      // A kept-alive connection would hold the server open after its last answer.
      if (closing) response.shouldKeepAlive = false;
      response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
      handler(request, response);
    },
  );
  const address = await bind(server, wanted);
  return {
    url: urlOf(address),
    port: address.port,
    server,
    close(graceMs = defaultGraceMs) {
      closing = true;
      return new Promise((resolve, reject) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        server.close((error) => {
          clearTimeout(cut);
          if (error && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING') reject(error);
          else resolve();
        });
      });
    },
  };
}
