import { accessKey } from '../api/access-key';
import { board, type FeedMessage, unwrap } from '../api/client';
import { createStore } from '../ui/store';

/** `away`: the connection is lost and tried again; what is shown may be old. */
export type LiveState = 'off' | 'connecting' | 'live' | 'away';

export const liveState = createStore<LiveState>('off');

interface Followed {
  taskId: string;
  attemptId: string;
  /** The last sequence that was received: what to resume after. */
  after: () => number;
}

type Listener = (message: FeedMessage) => void;

const listeners = new Set<Listener>();
const returned = new Set<() => void>();
const firstWaitMs = 400;
const longestWaitMs = 10_000;
/** A clock that jumps further than this belongs to a machine that has slept. */
const sleepMs = 20_000;
const tickMs = 5_000;

let socket: WebSocket | undefined;
let followed: Followed | undefined;
let waitMs = firstWaitMs;
let openedAt = 0;
let retry: ReturnType<typeof setTimeout> | undefined;
let wasLive = false;
let generation = 0;
let onRevoked: () => void = () => undefined;

/** Receives messages of the feed. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Receives that the connection is back after it was lost: what was read before may have changed. */
export function onReturn(listener: () => void): () => void {
  returned.add(listener);
  return () => returned.delete(listener);
}

const send = (message: object): void => {
  if (socket?.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify(message));
  }
};

function subscribeTo({ taskId, attemptId, after }: Followed): void {
  send({ type: 'subscribe', taskId, attemptId, afterSequence: after() });
}

/** Follows one attempt from its last received event, beyond lost connections, until the returned function is called. */
export function follow(run: Followed): () => void {
  followed = run;
  subscribeTo(run);
  return () => {
    if (followed === run) {
      followed = undefined;
      send({ type: 'unsubscribe' });
    }
  };
}

async function address(): Promise<string> {
  const url = new URL('/ws', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  // A page can send no header with a WebSocket: a key opens it by a ticket.
  if (accessKey() !== undefined) {
    const { ticket } = await unwrap(board.POST('/api/auth/ws-ticket'));
    url.searchParams.set('ticket', ticket);
  }
  return url.href;
}

function opened(): void {
  openedAt = Date.now();
  send({ type: 'subscribe:tasks' });
  for (const channel of ['agent:status', 'run-approvals', 'squad', 'workflow-runs']) {
    send({ type: 'subscribe', channel });
  }
  if (followed) {
    subscribeTo(followed);
  }
  liveState.set('live');
  if (wasLive) {
    for (const listener of returned) {
      listener();
    }
  }
  wasLive = true;
}

function closed(code: number): void {
  socket = undefined;
  if (liveState.get() === 'off') {
    return;
  }
  if (code === 4001) {
    disconnect();
    onRevoked();
    return;
  }
  liveState.set('away');
  clearTimeout(retry);
  // One that does not last is no reason to try sooner.
  if (openedAt > 0 && Date.now() - openedAt > longestWaitMs) {
    waitMs = firstWaitMs;
  }
  openedAt = 0;
  retry = setTimeout(() => void open(), waitMs * (0.75 + Math.random() / 2));
  waitMs = Math.min(waitMs * 2, longestWaitMs);
}

/** The board could not do what this connection has asked for, such as while its stores are away: another one asks again. */
const isFailure = (message: FeedMessage): boolean => message.type === 'error' && message.code === 'INTERNAL_ERROR';

async function open(): Promise<void> {
  clearTimeout(retry);
  generation += 1;
  const mine = generation;
  let url: string;
  try {
    url = await address();
  } catch {
    closed(1006);
    return;
  }
  if (mine !== generation || liveState.get() === 'off') {
    return;
  }
  const opening = new WebSocket(url);
  socket = opening;
  opening.addEventListener('open', () => opening === socket && opened());
  opening.addEventListener('close', ({ code }) => opening === socket && closed(code));
  opening.addEventListener('message', ({ data }) => {
    if (opening !== socket) {
      return;
    }
    const message = JSON.parse(String(data)) as FeedMessage;
    if (isFailure(message)) {
      opening.close();
      closed(1011);
      return;
    }
    for (const listener of listeners) {
      listener(message);
    }
  });
}

/** Opens the connection again at once: the one that there is may be dead without a sign of it. */
function reopen(): void {
  if (liveState.get() === 'off') {
    return;
  }
  const former = socket;
  socket = undefined;
  former?.close();
  liveState.set('away');
  waitMs = firstWaitMs;
  void open();
}

/**
 * Connects, and stays connected until `disconnect`.
 *
 * @param revoked called when the credential is not accepted any more
 */
export function connect(revoked: () => void): void {
  onRevoked = revoked;
  if (liveState.get() !== 'off') {
    return;
  }
  liveState.set('connecting');
  void open();
}

export function disconnect(): void {
  clearTimeout(retry);
  liveState.set('off');
  wasLive = false;
  const former = socket;
  socket = undefined;
  former?.close();
}

let tickedAt = Date.now();
setInterval(() => {
  const slept = Date.now() - tickedAt > sleepMs;
  tickedAt = Date.now();
  if (slept) {
    reopen();
  }
}, tickMs);
addEventListener('online', reopen);
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && liveState.get() === 'away') {
    reopen();
  }
});
