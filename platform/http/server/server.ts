import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../../log/log';
import { guardSockets, type OpenResponses } from './guard-sockets';
import { explainListenError, type ListenAddress } from './listen-error';
import { boardRefusalBody, type RefusalBody, refuseRequest } from './raw-refusal';
import { checkRequest } from './request-check';

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** For WebSocket upgrades. */
  readonly server: Server;
  /**
   * Stops accepting, lets running requests finish within `graceMs` and then cuts them off. Upgraded connections are their
   * owner's to close, before this.
   */
  close(graceMs?: number): Promise<void>;
}

export interface ListenOptions extends ListenAddress {
  /** How long a caller may take to send its whole request. */
  requestTimeoutMs?: number;
  /** How long it may take to send the headers of it, counted from the connection's beginning. */
  headersTimeoutMs?: number;
  /** How long a connection without a request stays open. */
  keepAliveMs?: number;
  /** The envelope of what is refused before the handler sees it; the board's by default. */
  refusalBody?: RefusalBody;
  log?: Log;
}

const defaultGraceMs = 10_000;
/** A client that means to send headers sends them at once. */
const defaultHeadersTimeoutMs = 10_000;
/**
 * Longer than proxies and clients keep theirs (a minute at most, usually): the side that sends requests is to close first, or
 * it sends one into a connection that is closed meanwhile.
 */
const defaultKeepAliveMs = 75_000;
/** How often connections are looked through for those whose time is up. */
const timeoutCheckMs = 5_000;

function bind(server: Server, address: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(explainListenError(error, address));
    server.once('error', failed);
    server.listen({ host: address.host, port: address.port }, () => {
      server.off('error', failed);
      resolve(server.address() as AddressInfo);
    });
  });
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Runs the handler; what it throws becomes a response and is logged instead of ending the process. */
function runGuarded(handler: Handler, format: RefusalBody, log: Log | undefined): Handler {
  return (request, response) => {
    const fail = (err: unknown): void => {
      log?.error({ method: request.method, err }, 'request failed');
      const message = 'An internal error occurred.';
      if (response.headersSent) {
        response.destroy();
      } else {
        refuseRequest(response, { status: 500, code: 'INTERNAL_ERROR', message }, format);
      }
    };
    try {
      const refusal = checkRequest(request);
      if (refusal) {
        refuseRequest(response, refusal, format);
        return;
      }
      const handled = handler(request, response);
      if (handled instanceof Promise) {
        handled.catch(fail);
      }
    } catch (error) {
      fail(error);
    }
  };
}

/**
 * Serves `handler` over HTTP. Requests without a well-formed target and `Host` are refused before it; the target it sees
 * is in its one form (`canonicalTarget`). Nothing that a connection sends, or does, ends the process.
 *
 * @throws ListenError with what to do about it when the port cannot be had
 */
export async function listen(
  handler: Handler,
  {
    requestTimeoutMs = 30_000,
    headersTimeoutMs = Math.min(defaultHeadersTimeoutMs, requestTimeoutMs),
    keepAliveMs = defaultKeepAliveMs,
    refusalBody = boardRefusalBody,
    log,
    ...wanted
  }: ListenOptions,
): Promise<RunningServer> {
  let closing = false;
  const open: OpenResponses = new WeakMap();
  const guarded = runGuarded(handler, refusalBody, log);
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: Math.min(timeoutCheckMs, headersTimeoutMs),
      keepAliveTimeout: keepAliveMs,
      // Refused by this server, with an envelope.
      requireHostHeader: false,
    },
    (request, response) => {
      // A kept-alive connection would hold the server open after its last response.
      if (closing) {
        response.shouldKeepAlive = false;
      }
      const responses = open.get(request.socket) ?? new Set();
      open.set(request.socket, responses.add(response));
      response.once('close', () => {
        responses.delete(response);
        if (closing) {
          setImmediate(() => server.closeIdleConnections());
        }
      });
      guarded(request, response);
    },
  );
  guardSockets(server, { open, format: refusalBody, log });
  const address = await bind(server, wanted);
  // From here on it is about single connections that could not be accepted.
  server.on('error', (err) => log?.error({ err }, 'connection accept failed'));
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
          if (error && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING') {
            reject(error);
          } else {
            resolve();
          }
        });
      });
    },
  };
}
