import type { WebSocket } from 'ws';
import type { FeedNotice } from '../../../contracts/system/watch';
import type { AuthContext } from '../../../platform/http/auth/auth';

/** Close codes of the channel (RFC 6455 and its private range). */
export const closeCodes = {
  goingAway: 1001,
  tryAgainLater: 1013,
  notAuthenticated: 4001,
  tooManyMessages: 4008,
} as const;

/** A watcher with this much unsent, in bytes, is too slow and is dropped. */
const maxBufferedBytes = 1_000_000;
/** How long a watcher that was too slow has to read up to the frame that notifies it of that, in milliseconds. */
const slowCloseMs = 10_000;
/** Above this, in bytes, a stream to the watcher waits until it has caught up. */
const highWaterBytes = 64_000;

/** Notices that wait until it is known whether their watcher may still watch; beyond them it is dropped. */
const maxWithheld = 1_000;

/** Whether a watcher may still watch. */
export interface WatcherStanding {
  /** Whether that was verified a moment ago. */
  isFresh(): boolean;
  /** Verifies it: the watcher is released or closed. */
  refresh(): void;
}

/** The texts of notices that several watchers are sent. */
const texts = new WeakMap<FeedNotice, { workspaceId: string; text: string }>();

/** A notice as watchers of a workspace are sent it: written once, however many they are, with the time of the first sending. */
function textOf(notice: FeedNotice, workspaceId: string): string {
  const existing = texts.get(notice);
  if (existing?.workspaceId === workspaceId) {
    return existing.text;
  }
  const text = JSON.stringify({ ...notice, timestamp: new Date().toISOString(), workspaceId });
  texts.set(notice, { workspaceId, text });
  return text;
}

/** Channels a watcher receives without following a task. None chosen means all. */
export type Channel = 'tasks' | 'agent:status' | 'run-approvals' | 'squad' | 'broadcasts' | 'goals' | 'workflow-runs';

/** One connection: its caller, its channels, and how much it has not read yet. */
export class FeedWatcher {
  private readonly chosen = new Set<Channel>();
  private readonly withheld: { notice: FeedNotice; written: (() => void) | undefined }[] = [];
  /** The chat session it follows. */
  chatId: string | undefined;

  constructor(
    private readonly socket: WebSocket,
    readonly auth: AuthContext,
    /** Of a caller whose credential may be revoked. */
    private readonly standing?: WatcherStanding,
  ) {}

  get open(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  choose(channel: Channel): void {
    this.chosen.add(channel);
  }

  receives(channel: Channel): boolean {
    return this.chosen.size === 0 || this.chosen.has(channel);
  }

  may(permission: string): boolean {
    return this.auth.permissions.includes(permission);
  }

  /** Sends a notice, or drops a watcher that is too slow. Never buffers without bound. */
  send(notice: FeedNotice): void {
    this.write(notice, undefined);
  }

  /** Sends a notice and, when the watcher lags, resolves only once the bytes are on their way (or the socket closed). */
  async stream(notice: FeedNotice): Promise<void> {
    if (this.socket.bufferedAmount <= highWaterBytes) {
      this.write(notice, undefined);
    } else {
      await new Promise<void>((resolve) => this.write(notice, resolve));
    }
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  /** Closes the connection of a caller that may not watch any more: nothing that waits is delivered. */
  expel(code: number, reason: string): void {
    for (const { written } of this.withheld.splice(0)) {
      written?.();
    }
    this.close(code, reason);
    // A side that takes no part in closing would go on to be written to.
    setTimeout(() => this.terminate(), 1_000).unref();
  }

  /** Ends the connection without a close frame, which would not be read. */
  terminate(): void {
    this.socket.terminate();
  }

  /** Writes what was withheld while it was not known whether the caller may still watch. */
  release(): void {
    for (const { notice, written } of this.withheld.splice(0)) {
      this.writeNow(notice, written);
    }
  }

  private write(notice: FeedNotice, written: (() => void) | undefined): void {
    if (!this.standing || (this.standing.isFresh() && this.withheld.length === 0)) {
      this.writeNow(notice, written);
      return;
    }
    if (!this.open) {
      written?.();
      return;
    }
    if (this.withheld.length >= maxWithheld) {
      this.expel(closeCodes.tryAgainLater, 'it is not known whether you may still watch');
      written?.();
      return;
    }
    this.withheld.push({ notice, written });
    this.standing.refresh();
  }

  private writeNow(notice: FeedNotice, written: (() => void) | undefined): void {
    if (!this.open) {
      return written?.();
    }
    if (this.socket.bufferedAmount > maxBufferedBytes) {
      this.close(closeCodes.tryAgainLater, 'too slow: reconnect and resume from your last sequence');
      // A watcher that goes on to read nothing does not read a close frame either.
      setTimeout(() => this.terminate(), slowCloseMs).unref();
      return written?.();
    }
    this.socket.send(textOf(notice, this.auth.workspaceId), () => written?.());
  }
}
