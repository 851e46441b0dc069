import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Authenticate } from '../../platform/http/auth';
import { isAllowedOrigin } from '../../platform/http/loopback';
import type { Log } from '../../platform/log/log';
import { maxMessageBytes, obey } from './commands';
import type { FeedHub } from './hub';
import { Watcher, closeCodes } from './watcher';

export interface FeedServerSettings {
  /** Most watchers of this replica. */
  maxConnections: number;
  pingEveryMs: number;
  pongWithinMs: number;
  /** Messages a watcher may send in ten seconds. */
  maxMessages: number;
  allowedOrigins: readonly string[];
  /** Whether pages served from this machine may watch. */
  allowLocalOrigins: boolean;
}

export const defaultFeedSettings = { maxConnections: 50, pingEveryMs: 30_000, pongWithinMs: 10_000, maxMessages: 30 };

const messageWindowMs = 10_000;

/** Serves `/ws` on an HTTP server. */
export function serveFeed(
  server: Server,
  {
    hub,
    authenticate,
    settings,
    log,
  }: { hub: FeedHub; authenticate: Authenticate; settings: FeedServerSettings; log: Log },
): { close(): Promise<void> } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname !== '/ws') {
      reject(socket, 404, 'Not Found');
      return;
    }
    // A browser always says which page asks; no Origin is no page.
    const { origin } = request.headers;
    if (origin !== undefined && !isAllowedOrigin(origin, settings)) {
      reject(socket, 403, 'Forbidden');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => admit(accepted, request, url));
  };
  server.on('upgrade', onUpgrade);

  function admit(socket: WebSocket, request: IncomingMessage, url: URL): void {
    socket.on('error', (error) => log.debug({ err: error }, 'a watcher failed'));
    const auth = authenticate(
      request.headers,
      request.socket.remoteAddress,
      url.searchParams.get('api_key') ?? undefined,
    );
    if (!auth) return socket.close(closeCodes.notAuthenticated, 'a valid api_key is required');
    if (sockets.clients.size > settings.maxConnections) {
      return socket.close(closeCodes.tryAgainLater, `at most ${settings.maxConnections} watchers`);
    }
    const watcher = new Watcher(socket, auth);
    const stopPinging = keepAlive(socket, watcher, settings);
    let messages = 0;
    const window = setInterval(() => (messages = 0), messageWindowMs).unref();
    socket.on('message', (data, isBinary) => {
      messages += 1;
      if (messages > settings.maxMessages) return watcher.close(closeCodes.tooManyMessages, 'too many messages');
      if (isBinary)
        return watcher.send({ type: 'error', requestType: null, code: 'BAD_REQUEST', message: 'Messages are text.' });
      obey(hub, watcher, String(data as Buffer)).catch((error: unknown) => {
        log.error({ err: error }, 'a watcher was not answered');
        watcher.send({ type: 'error', requestType: null, code: 'INTERNAL_ERROR', message: 'Try again.' });
      });
    });
    socket.on('close', () => {
      stopPinging();
      clearInterval(window);
      hub.remove(watcher);
    });
    hub.add(watcher);
  }

  return {
    async close() {
      server.off('upgrade', onUpgrade);
      for (const socket of sockets.clients) socket.close(closeCodes.goingAway, 'the server is stopping');
      const closed = new Promise<void>((resolve) => sockets.close(() => resolve()));
      const cut = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, 1_000);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** Pings on a schedule and ends a connection whose pong does not come in time. */
function keepAlive(socket: WebSocket, watcher: Watcher, settings: FeedServerSettings): () => void {
  let deadline: NodeJS.Timeout | undefined;
  const pinging = setInterval(() => {
    if (!watcher.open) return;
    socket.ping();
    deadline ??= setTimeout(() => watcher.terminate(), settings.pongWithinMs);
  }, settings.pingEveryMs);
  socket.on('pong', () => {
    clearTimeout(deadline);
    deadline = undefined;
  });
  return () => {
    clearInterval(pinging);
    clearTimeout(deadline);
  };
}

function reject(socket: Duplex, status: number, reason: string): void {
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
