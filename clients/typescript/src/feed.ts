import { type BoardClientOptions, BoardError, createBoardClient, unwrap } from './client';
import type { components } from './types';
import { wait } from './wait';

type Schemas = components['schemas'];

/** What the feed sends, by its type; there are more than those that are described here. */
export type FeedMessage =
  | { type: 'connected'; workspaceId: string }
  | { type: 'subscribed'; taskId: string; attemptId: string | null; cursor: number; running: boolean }
  | { type: 'task:updated'; task: Schemas['Task'] }
  | { type: 'task:changed'; changeType: string; taskId: string; location: string }
  | ({ type: 'agent:status' } & Schemas['AgentStatus'])
  | { type: 'agent:event'; taskId: string; attemptId: string; sequence: number; data: Schemas['RunEvent'] }
  | { type: 'agent:complete'; taskId: string; attemptId: string; sequence: number; status: string }
  | { type: 'run-approval:changed'; approval: Schemas['RunApproval'] }
  | {
      type: `${'tasks' | 'agent:status' | 'run-approvals' | 'squad' | 'goals' | 'broadcasts' | 'workflow-runs'}:subscribed`;
    }
  | { type: 'workflow-run:changed'; runId: string; revision: number }
  | {
      type: 'recovery:changed';
      attemptId: string;
      taskId: string;
      state: Schemas['RunRecovery']['state'];
      revision: number;
    }
  | { type: 'squad:message'; message: Schemas['SquadMessage'] }
  | { type: 'squad:pin' | 'squad:reaction'; messageId: string }
  | { type: 'error'; requestType: string | null; code: string; message: string };

/** What is needed of a WebSocket: that of a browser, of Node 22 and newer, and of the package `ws` have it. */
export interface FeedSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'close', listener: (event: { code: number }) => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

export interface FeedOptions extends BoardClientOptions {
  /** Opens a WebSocket: that of the platform when absent, which Node 20 has not. */
  connect?: (url: string) => FeedSocket;
  /** Ends the feed. */
  signal?: AbortSignal;
  /**
   * How often in a row a connection may be refused before the feed gives up with `FeedRefusedError`: by a proxy that forwards requests but no
   * WebSocket, for example. Never when absent; an absence of the whole board does not count where there is a key.
   */
  maxRefusals?: number;
  /** Called when a connection was lost or refused and is about to be tried again: for the how many-th time in a row, from 1. */
  onLost?: (time: number) => void;
  /** The first wait before a lost connection is tried again, in milliseconds; it doubles up to ten seconds. */
  firstWaitMs?: number;
}

const longestWaitMs = 10_000;
const notAccepted = 4001;

/** What serves the API opens no WebSocket. */
export class FeedRefusedError extends Error {
  override readonly name = 'FeedRefusedError';

  constructor(url: string) {
    super(`No WebSocket is opened at ${url}.`);
  }
}

function platformSocket(url: string): FeedSocket {
  const { WebSocket } = globalThis as { WebSocket?: new (address: string) => FeedSocket };
  if (!WebSocket) {
    throw new TypeError('This platform has no WebSocket: give "connect", e.g. one that opens those of the package ws.');
  }
  return new WebSocket(url);
}

/** The address of the feed. A ticket stands for the key, which would otherwise be in the logs of proxies. */
async function addressOf(options: FeedOptions): Promise<string> {
  const url = new URL('/ws', options.url);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (options.key !== undefined) {
    const { ticket } = await unwrap(createBoardClient(options).POST('/api/auth/ws-ticket', {}));
    url.searchParams.set('ticket', ticket);
  }
  return url.href;
}

/** The messages of one connection until it closes. @returns the code that it was closed with */
async function* messagesOf(
  socket: FeedSocket,
  subscribe: () => object[],
  signal: AbortSignal | undefined,
): AsyncGenerator<FeedMessage, number> {
  const received: FeedMessage[] = [];
  let code: number | undefined;
  let wake = (): void => undefined;
  socket.addEventListener('open', () => subscribe().forEach((message) => socket.send(JSON.stringify(message))));
  socket.addEventListener('error', () => undefined);
  socket.addEventListener('message', ({ data }) => {
    received.push(JSON.parse(String(data)) as FeedMessage);
    wake();
  });
  socket.addEventListener('close', (event) => {
    code = event.code;
    wake();
  });
  const stop = (): void => wake();
  signal?.addEventListener('abort', stop);
  try {
    while (!signal?.aborted) {
      const message = received.shift();
      if (message) {
        yield message;
      } else if (code !== undefined) {
        return code;
      } else {
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    return 1000;
  } finally {
    signal?.removeEventListener('abort', stop);
    socket.close();
  }
}

/** The board could not do what this connection has asked for, such as while its stores are away: another connection asks again. */
const isFailure = (message: FeedMessage): boolean => message.type === 'error' && message.code === 'INTERNAL_ERROR';

const isTemporary = (error: unknown): boolean =>
  !(error instanceof BoardError) || error.status >= 500 || error.status === 429;

/**
 * The messages of the feed, beyond lost connections, until the signal ends it or its reader stops.
 *
 * @param subscribe what is sent on each connection, e.g. `{ type: 'subscribe:tasks' }`; a subscription to a run resumes after
 *   the last sequence that was received
 * @throws BoardError when the credential is not accepted, or not any more
 */
export async function* feedMessages(options: FeedOptions, subscribe: () => object[]): AsyncGenerator<FeedMessage> {
  const { url, signal, connect = platformSocket, firstWaitMs = 400, maxRefusals = Infinity, onLost } = options;
  let refusals = 0;
  let losses = 0;
  for (let waitMs = firstWaitMs; !signal?.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const address = await addressOf(options).catch((error: unknown) => {
      if (!isTemporary(error)) {
        throw error;
      }
      return undefined;
    });
    if (address !== undefined) {
      const messages = messagesOf(connect(address), subscribe, signal);
      try {
        let next = await messages.next();
        for (; !next.done && !isFailure(next.value); next = await messages.next()) {
          waitMs = firstWaitMs;
          refusals = -1;
          losses = 0;
          yield next.value;
        }
        if (next.value === notAccepted) {
          throw new BoardError(401, { error: 'The feed does not accept the credential.', code: 'AUTH_REQUIRED' });
        }
      } finally {
        // The reader may have stopped: the connection is closed with it.
        await messages.return(0);
      }
      refusals += 1;
      if (refusals >= maxRefusals) {
        throw new FeedRefusedError(url);
      }
    }
    if (signal?.aborted) {
      return;
    }
    losses += 1;
    onLost?.(losses);
    await wait(waitMs, signal);
  }
}

/** The kinds of the event that ends an attempt. */
const ends: ReadonlySet<string> = new Set(['run.completed', 'run.failed', 'run.interrupted', 'run.refused']);

const statusOf: Partial<Record<string, number>> = { NOT_FOUND: 404, FORBIDDEN: 403 };

export interface FollowedRun {
  taskId: string;
  attemptId: string;
  /** Only events with a higher sequence; all of them by default. */
  afterSequence?: number;
}

/**
 * The events of an attempt, each once and in order, also those that occurred while the connection was lost, until the attempt ends.
 *
 * @throws BoardError when the credential or the subscription is not accepted
 */
export async function* followRun(
  options: FeedOptions,
  { taskId, attemptId, afterSequence = 0 }: FollowedRun,
): AsyncGenerator<Schemas['RunEvent']> {
  let last = afterSequence;
  const subscribe = () => [{ type: 'subscribe', taskId, attemptId, afterSequence: last }];
  for await (const message of feedMessages(options, subscribe)) {
    if (message.type === 'error') {
      throw new BoardError(statusOf[message.code] ?? 400, { error: message.message, code: message.code });
    }
    if (message.type === 'agent:event' && message.attemptId === attemptId && message.sequence > last) {
      last = message.sequence;
      yield message.data;
      if (ends.has(message.data.kind)) {
        return;
      }
    }
    // Its end may be what the reader, or the connection before, has had already.
    if (message.type === 'subscribed' && !message.running && message.cursor <= last) {
      return;
    }
  }
}
