import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../../platform/errors/app-error';
import type { AuthContext, Identify } from '../../../platform/http/auth/auth';
import type { AuthFailures } from '../../../platform/http/auth/auth-failures';
import {
  type CredentialRequest,
  type PresentedCredential,
  presentedCredentials,
} from '../../../platform/http/auth/credentials';
import { isAllowedPage, type OriginRules, refusedPage } from '../../../platform/http/auth/loopback';
import type { CallerAddress } from '../../../platform/http/limits/caller-address';
import { rateLimited, standingHeaders } from '../../../platform/http/limits/rate-limit';
import { boardRefusalBody, type Refusal, refuseSocket } from '../../../platform/http/server/raw-refusal';
import { checkRequest } from '../../../platform/http/server/request-check';
import type { Log } from '../../../platform/log/log';
import type { TicketCaller } from '../../identity/sessions/ws-tickets';
import type { WatcherCount } from './admission';
import { handleMessage, maxMessageBytes } from './commands';
import type { FeedHub } from './hub';
import { type Standing, Standings } from './standing';
import { closeCodes, FeedWatcher } from './watcher';

export interface FeedServerSettings extends OriginRules {
  pingEveryMs: number;
  pongWithinMs: number;
  /** What watchers are counted under. */
  addressOf: CallerAddress;
  /** Messages a watcher may send in ten seconds. */
  maxMessages: number;
}

export const defaultFeedSettings = { pingEveryMs: 30_000, pongWithinMs: 10_000, maxMessages: 30 };

const messageWindowMs = 10_000;
/** How long a connection that is refused may take to close, in milliseconds. */
const refusedCloseMs = 1_000;

/** A caller in the workspace that its request names, and the hub of that workspace. */
export interface Watching {
  auth: AuthContext;
  hub: FeedHub;
}

export interface FeedServerDependencies {
  /**
   * @param workspaceId the workspace that its ticket is for, rather than what the headers name
   * @throws AppError for a workspace that the caller may not watch
   */
  enter: (caller: AuthContext, headers: IncomingHttpHeaders, workspaceId: string | undefined) => Promise<Watching>;
  identify: Identify;
  /** The caller of a ticket; `undefined` for one that is not valid. */
  redeemTicket: (ticket: string) => Promise<TicketCaller | undefined>;
  authFailures: AuthFailures;
  /** Counts the watchers of this replica. */
  watchers: WatcherCount;
  settings: FeedServerSettings;
  log: Log;
}

/** Who wants to watch, and what it proves that with from now on. */
interface Caller {
  auth: AuthContext | undefined;
  credentials: readonly PresentedCredential[];
  request: CredentialRequest;
  /** Whether there was a credential at all. */
  presented: boolean;
  /** Named where its ticket was issued. */
  workspaceId: string | undefined;
}

interface Admission {
  watching: Watching | undefined;
  /** Of a credential that may be revoked. */
  standing: Standing | undefined;
  address: string | undefined;
}

const notFound: Refusal = { status: 404, code: 'NOT_FOUND', message: 'This path does not serve a WebSocket.' };
const failed: Refusal = { status: 500, code: 'INTERNAL_ERROR', message: 'An internal error occurred.' };

const refuse = (socket: Duplex, refusal: Refusal, headers?: Record<string, string>): void =>
  refuseSocket(socket, refusal, { format: boardRefusalBody, headers });

/** Serves `/ws` on an HTTP server. */
export function serveFeed(server: Server, deps: FeedServerDependencies): { close(): Promise<void> } {
  const { enter, identify, redeemTicket, authFailures, watchers, settings, log } = deps;
  const standings = new Standings(identify, log);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  sockets.on('wsClientError', (error, socket) =>
    refuse(socket, {
      status: 400,
      code: 'BAD_REQUEST',
      message: `The WebSocket handshake is invalid: ${error.message}.`,
    }),
  );

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Nothing else listens to a socket between its upgrade and the end of the handshake, or of a refusal.
    socket.on('error', (err) => log.debug({ err }, 'upgrade failed'));
    handleUpgrade(request, socket, head).catch((err: unknown) => {
      if (err instanceof AppError) {
        refuse(socket, err);
        return;
      }
      log.error({ err }, 'upgrade failed');
      refuse(socket, failed);
    });
  };
  server.on('upgrade', onUpgrade);

  async function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const malformed = checkRequest(request);
    if (malformed) {
      refuse(socket, malformed);
      return;
    }
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname !== '/ws') {
      refuse(socket, notFound);
      return;
    }
    // A browser always states the origin of the page; no Origin is no page.
    if (request.headers.origin !== undefined && !isAllowedPage(request.headers, settings)) {
      refuse(socket, refusedPage);
      return;
    }
    const caller = await callerOf(request, url.searchParams);
    if (!caller.auth) {
      const standing = authFailures.record(request, { via: 'ws', presented: caller.presented });
      if (!standing.allowed) {
        const nowMs = Date.now();
        refuse(socket, rateLimited(standing, nowMs, 'failed authentications'), standingHeaders(standing, nowMs));
        return;
      }
    }
    const watching = caller.auth && (await enter(caller.auth, request.headers, caller.workspaceId));
    const standing = caller.auth && standings.of(caller.auth, caller.credentials, caller.request);
    const address = settings.addressOf(request);
    sockets.handleUpgrade(request, socket, head, (accepted) => admit(accepted, { watching, standing, address }));
  }

  /** Who wants to watch, by a ticket if there is one, and by nothing else then. */
  async function callerOf({ headers, socket }: IncomingMessage, query: URLSearchParams): Promise<Caller> {
    const ticket = query.get('ticket');
    const presented: TicketCaller | undefined =
      ticket === null
        ? { credentials: presentedCredentials(headers, query.get('api_key') ?? undefined) }
        : await redeemTicket(ticket);
    const { remoteAddress, localAddress, localPort } = socket;
    const request = { headers, connection: { remoteAddress, localAddress, localPort } };
    const { credentials = [], workspaceId } = presented ?? {};
    const auth = presented && (await identify(credentials, request));
    return { auth, credentials, request, presented: ticket !== null || credentials.length > 0, workspaceId };
  }

  function admit(socket: WebSocket, { watching, standing, address }: Admission): void {
    socket.on('error', (error) => log.debug({ err: error }, 'watcher connection failed'));
    // A page sees close codes, and nothing of a refused handshake.
    if (!watching) {
      return closeRefused(socket, closeCodes.notAuthenticated, 'a valid api_key is required');
    }
    const leave = watchers.admit(address);
    if (typeof leave === 'string') {
      return closeRefused(socket, closeCodes.tryAgainLater, leave);
    }
    socket.on('close', leave);
    const { auth, hub } = watching;
    const watcher = new FeedWatcher(socket, auth, standing);
    standing?.add(watcher);
    const stopPinging = keepAlive(socket, watcher, settings);
    let messages = 0;
    let handled: Promise<void> = Promise.resolve();
    const window = setInterval(() => (messages = 0), messageWindowMs).unref();
    socket.on('message', (data, isBinary) => {
      messages += 1;
      if (messages > settings.maxMessages) {
        return watcher.close(closeCodes.tooManyMessages, 'too many messages');
      }
      if (isBinary) {
        return watcher.send({
          type: 'error',
          requestType: null,
          code: 'BAD_REQUEST',
          message: 'Messages must be text.',
        });
      }
      const text = (data as Buffer).toString('utf8');
      // One after the other, in their order: of two subscriptions the later one counts.
      handled = handled
        .then(() => (watcher.open ? handleMessage(hub, watcher, text) : undefined))
        .catch((error: unknown) => {
          log.error({ err: error }, 'watcher response failed');
          watcher.send({ type: 'error', requestType: null, code: 'INTERNAL_ERROR', message: 'Try again.' });
        });
    });
    socket.on('close', () => {
      stopPinging();
      clearInterval(window);
      standing?.remove(watcher);
      hub.remove(watcher);
    });
    hub.add(watcher);
  }

  return {
    async close() {
      server.off('upgrade', onUpgrade);
      standings.close();
      for (const socket of sockets.clients) {
        socket.close(closeCodes.goingAway, 'the server is stopping');
      }
      const closed = new Promise<void>((resolve) => sockets.close(() => resolve()));
      const cut = setTimeout(() => {
        for (const socket of sockets.clients) {
          socket.terminate();
        }
      }, 1_000);
      await closed;
      clearTimeout(cut);
    },
  };
}

/** Pings on a schedule and ends a connection whose pong does not come in time. */
function keepAlive(socket: WebSocket, watcher: FeedWatcher, settings: FeedServerSettings): () => void {
  let deadline: NodeJS.Timeout | undefined;
  const pinging = setInterval(() => {
    if (!watcher.open) {
      return;
    }
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

/** Closes a connection that has no watcher, whether or not its other side takes part in closing it. */
function closeRefused(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), refusedCloseMs).unref();
}
