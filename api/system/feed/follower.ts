import type { RunEvent } from '../../../contracts/runs/event';
import type { FeedNotice } from '../../../contracts/system/watch';
import type { ReadPage } from './shared-reads';
import type { FeedWatcher } from './watcher';

const pageSize = 200;

/** An attempt being sent: what was sent, and the last sequence there is to send. */
interface Track {
  attemptId: string;
  cursor: number;
  upTo: number;
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
  private pumping = false;
  private stopped = false;
  private readonly readPage: ReadPage;
  readonly taskId: string;
  private readonly after: FollowerOptions['after'];
  private readonly onError: (error: unknown) => void;

  constructor(
    private readonly watcher: FeedWatcher,
    { readPage, taskId, after, onError }: FollowerOptions,
  ) {
    this.readPage = readPage;
    this.taskId = taskId;
    this.after = after;
    this.onError = onError;
  }

  /** There are events of the attempt up to a sequence. */
  received(attemptId: string, upTo: number): void {
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
    this.stopped = true;
  }

  private get live(): boolean {
    return !this.stopped && this.watcher.open;
  }

  private async pump(): Promise<void> {
    if (this.pumping) {
      return;
    }
    this.pumping = true;
    try {
      for (let track = this.next(); track && this.live; track = this.next()) {
        await this.sendPage(track);
      }
    } catch (error) {
      this.onError(error);
    } finally {
      this.pumping = false;
    }
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
