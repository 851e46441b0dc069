import type { RunEventInput } from '../../../contracts/runs/event';

/** The most events that are appended at once. */
const maxInBatch = 256;

/** Producers wait while this many events are waiting: it bounds memory and slows the agent down to its sink. */
const highWater = maxInBatch * 4;

/**
 * Appends events one batch at a time, in order. Nothing waits for company: while one batch is being appended the next one
 * gathers, so that batches are as large as the sink is slow. After a failed append nothing more is appended; the failure
 * reaches the caller that adds or closes.
 */
export class EventBatcher {
  private waiting: RunEventInput[] = [];
  private due: NodeJS.Immediate | undefined;
  private appending: Promise<void> | undefined;
  private failure: { cause: unknown } | undefined;

  /** @param onFailure called once, as soon as an append has failed */
  constructor(
    private readonly append: (events: RunEventInput[]) => Promise<void>,
    private readonly onFailure: () => void,
  ) {}

  /** Takes an event; a returned promise resolves when there is capacity for the next one. */
  add(event: RunEventInput): Promise<void> | undefined {
    if (this.failure) {
      return this.room();
    }
    this.waiting.push(event);
    // After the other lines that came with this one.
    if (!this.appending) {
      this.due ??= setImmediate(() => this.flush());
    }
    return this.waiting.length >= highWater ? this.room() : undefined;
  }

  /** Appends what is left. @throws the failure of an append */
  async close(): Promise<void> {
    while (!this.failure && (this.appending || this.waiting.length > 0)) {
      this.flush();
      await this.appending;
    }
    if (this.failure) {
      throw this.failure.cause;
    }
  }

  private async room(): Promise<void> {
    while (this.waiting.length >= highWater && !this.failure) {
      this.flush();
      await this.appending;
    }
    if (this.failure) {
      throw this.failure.cause;
    }
  }

  private flush(): void {
    clearImmediate(this.due);
    this.due = undefined;
    if (this.failure || this.appending || this.waiting.length === 0) {
      return;
    }
    this.appending = this.append(this.waiting.splice(0, maxInBatch))
      .catch((cause: unknown) => {
        this.failure = { cause };
        this.onFailure();
      })
      .finally(() => {
        this.appending = undefined;
        this.flush();
      });
  }
}
