import type { RunEventInput } from '../../../contracts/run-event';

/** How events are gathered: up to this many, for at most this long. */
const batch = { events: 64, waitMs: 50 } as const;

/** Producers wait while this many events are waiting: it bounds memory and slows the agent down to its sink. */
const highWater = batch.events * 4;

/**
 * Gathers events into batches and appends them one batch at a time, in order. After a failed append nothing more is
 * appended; the failure reaches whoever adds or closes.
 */
export class EventBatcher {
  private waiting: RunEventInput[] = [];
  private timer: NodeJS.Timeout | undefined;
  private appending: Promise<void> | undefined;
  /** A batch became due while another one was being appended. */
  private overdue = false;
  private failure: { cause: unknown } | undefined;

  /** @param onFailure called once, as soon as an append has failed */
  constructor(
    private readonly append: (events: RunEventInput[]) => Promise<void>,
    private readonly onFailure: () => void,
  ) {}

  /** Takes an event; a returned promise resolves when there is room for the next one. */
  add(event: RunEventInput): Promise<void> | undefined {
    if (this.failure) return this.room();
    this.waiting.push(event);
    if (this.waiting.length >= batch.events) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), batch.waitMs);
    return this.waiting.length >= highWater ? this.room() : undefined;
  }

  /** Appends what is left. @throws the failure of an append */
  async close(): Promise<void> {
    while (!this.failure && (this.appending || this.waiting.length > 0)) {
      this.flush();
      await this.appending;
    }
    clearTimeout(this.timer);
    if (this.failure) throw this.failure.cause;
  }

  private async room(): Promise<void> {
    while (this.waiting.length >= highWater && !this.failure) await this.appending;
    if (this.failure) throw this.failure.cause;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.failure || this.waiting.length === 0) return;
    if (this.appending) {
      this.overdue = true;
      return;
    }
    this.overdue = false;
    this.appending = this.append(this.waiting.splice(0, batch.events))
      .catch((cause: unknown) => {
        this.failure = { cause };
        this.onFailure();
      })
      .finally(() => {
        this.appending = undefined;
        if (this.overdue) this.flush();
      });
  }
}
