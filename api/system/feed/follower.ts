import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../../contracts/runs/event';
import type { FeedNotice } from '../../../contracts/system/watch';
import { StoreUnavailableError } from '../../../stores/port/errors';
import type { ReadPage } from './shared-reads';
import { closeCodes, type FeedWatcher } from './watcher';

const pageSize = 200;
/** Pauses before a read that the stores did not serve is repeated, in milliseconds. */
const retryMs = { first: 50, max: 2_000 };

/** An attempt, and the last sequence there is of it. */
export interface AttemptEnd {
  attemptId: string;
  upTo: number;
}

/** An attempt being sent: what was sent, and the last sequence there is to send. */
interface Track extends AttemptEnd {
  cursor: number;
}

interface FollowerOptions {
  readPage: ReadPage;
  taskId: string;
  /** The last sequence the watcher has, and of which attempt. */
  after: { attemptId: string | undefined; sequence: number };
  onError: (error: unknown) => void;
}

/**
 * One watcher following one task: reads events from the stores after its own cursor, in order, so that replay and live watching
 * are one thing and nothing is missed or sent twice. A retry is sent after the attempt it follows.
 */
export class Follower {
  private readonly tracks: Track[] = [];
  private readonly stopping = new AbortController();
  /** What was received before `start`, whose attempts come first. */
  private early: AttemptEnd[] | undefined = [];
  private pumping = false;
  private readonly readPage: ReadPage;
  readonly taskId: string;
  private readonly after: FollowerOptions['after'];
  private readonly onError: (error: unknown) => void;

  constructor(
    readonly watcher: FeedWatcher,
    { readPage, taskId, after, onError }: FollowerOptions,
  ) {
    this.readPage = readPage;
    this.taskId = taskId;
    this.after = after;
    this.onError = onError;
  }

  /** Begins to send: these attempts in their order, then what was received meanwhile. */
  start(attempts: readonly AttemptEnd[]): void {
    const early = this.early ?? [];
    this.early = undefined;
    for (const { attemptId, upTo } of [...attempts, ...early]) {
      this.received(attemptId, upTo);
    }
  }

  /** There are events of the attempt up to a sequence. */
  received(attemptId: string, upTo: number): void {
    if (this.early) {
      this.early.push({ attemptId, upTo });
      return;
    }
    const track = this.tracks.find((existing) => existing.attemptId === attemptId);
    if (track) {
      track.upTo = Math.max(track.upTo, upTo);
    } else {
      const cursor = attemptId === this.after.attemptId ? this.after.sequence : 0;
      this.tracks.push({ attemptId, cursor, upTo });
    }
    void this.pump();
  }

  stop(): void {
    this.stopping.abort();
  }

  private get live(): boolean {
    return !this.stopping.signal.aborted && this.watcher.open;
  }

  private async pump(): Promise<void> {
    if (this.pumping) {
      return;
    }
    this.pumping = true;
    try {
      let pauseMs = retryMs.first;
      for (let track = this.next(); track && this.live; track = this.next()) {
        pauseMs = (await this.trySendPage(track)) ? retryMs.first : await this.pause(pauseMs);
      }
    } catch (error) {
      this.onError(error);
      // Events that cannot be read now are not passed over: the watcher resumes from its last sequence.
      this.watcher.close(
        closeCodes.tryAgainLater,
        'events cannot be read: reconnect and resume from your last sequence',
      );
    } finally {
      this.pumping = false;
    }
  }

  /** `false` when the stores are away. */
  private async trySendPage(track: Track): Promise<boolean> {
    try {
      await this.sendPage(track);
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) {
        throw error;
      }
      this.onError(error);
      return false;
    }
  }

  /** Waits until the read is repeated, unless this is stopped. @returns the next pause */
  private async pause(pauseMs: number): Promise<number> {
    await delay(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    return Math.min(pauseMs * 2, retryMs.max);
  }

  /** The first attempt with events that were not sent yet. */
  private next(): Track | undefined {
    return this.tracks.find((track) => track.cursor < track.upTo);
  }

  private async sendPage(track: Track): Promise<void> {
    const { attemptId, cursor, upTo } = track;
    const page = await this.readPage({ attemptId, cursor, upTo, limit: pageSize });
    for (const event of page) {
      if (!this.live) {
        return;
      }
      await this.sendEvent(event);
      track.cursor = event.sequence;
    }
    if (page.length === 0) {
      track.cursor = upTo;
    }
  }

  private async sendEvent(event: RunEvent): Promise<void> {
    for (const notice of noticesOf(event)) {
      await this.watcher.stream(notice);
    }
  }
}

/** What watchers are sent of an event: followers of one page share it, so that it is written as text once. */
const shared = new WeakMap<RunEvent, FeedNotice[]>();

function noticesOf(event: RunEvent): FeedNotice[] {
  const existing = shared.get(event);
  if (existing) {
    return existing;
  }
  const { taskId, attemptId, sequence, kind, payload } = event;
  const about = { taskId, attemptId, sequence };
  const notices: FeedNotice[] = [{ type: 'agent:event', ...about, data: event }];
  if (kind === 'stream.stdout' || kind === 'stream.stderr') {
    const outputType = kind === 'stream.stdout' ? 'stdout' : 'stderr';
    notices.push({ type: 'agent:output', ...about, outputType, data: textOf(payload.text) });
  }
  if (kind === 'run.completed' || kind === 'run.failed' || kind === 'run.interrupted') {
    notices.push({ type: 'agent:complete', ...about, status: textOf(payload.status) });
  }
  if (kind === 'run.refused') {
    notices.push({ type: 'agent:complete', ...about, status: 'refused' });
  }
  shared.set(event, notices);
  return notices;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
