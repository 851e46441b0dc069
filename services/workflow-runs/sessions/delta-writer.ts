import type { SessionEvents } from './events';
import type { Exchange } from './session';

/** How long pieces are collected before they are published to watchers together. */
const everyMs = 100;

interface DeltaWriterOptions {
  events: SessionEvents;
  exchange: Exchange;
  /** How often its model was asked for this answer, with this time. */
  round: number;
  attempt: number;
  now: () => Date;
  /** Called when a piece cannot be stored. */
  onFailure: (error: unknown) => void;
}

/** Publishes an answer to the watchers of a session while it comes, a few times in a second however fast that is. */
export class DeltaWriter {
  private pending = '';
  private offset = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly options: DeltaWriterOptions) {}

  readonly add = (delta: string): void => {
    this.pending += delta;
    this.timer ??= setTimeout(() => this.write(), everyMs);
  };

  /** Resolves when everything that was added is stored, or could not be. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.write();
    await this.writing;
  }

  private write(): void {
    this.timer = undefined;
    const { pending: delta, offset } = this;
    if (delta === '') {
      return;
    }
    this.pending = '';
    this.offset += delta.length;
    const { events, exchange, round, attempt, now, onFailure } = this.options;
    const { _id, session, number: turn } = exchange;
    const key = round === 1 ? `${_id}/${attempt}/${offset}` : `${_id}/${round}/${attempt}/${offset}`;
    const event = { key, event: 'content_delta' as const, data: { delta, turn, round, attempt, offset } };
    // One after the other: their order is that of the text.
    this.writing = this.writing
      .then(() => events.append(session, now().toISOString(), event))
      .catch((error: unknown) => onFailure(error));
  }
}
