/** Passes on what is pushed to its one reader, in order; what has not been read yet waits. */
export class EventQueue<T> implements AsyncIterable<T> {
  private readonly waiting: T[] = [];
  private ended = false;
  private wake: (() => void) | undefined;

  push(...items: T[]): void {
    this.waiting.push(...items);
    this.wake?.();
  }

  /** What was pushed is still passed on; nothing after it. */
  end(): void {
    this.ended = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const item = this.waiting.shift();
      if (item !== undefined) {
        yield item;
      } else if (this.ended) {
        return;
      } else {
        await this.changed();
      }
    }
  }

  /** Resolves when something waits or nothing will come any more. */
  async changed(): Promise<void> {
    if (this.waiting.length > 0 || this.ended) {
      return;
    }
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
  }
}
