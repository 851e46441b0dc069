/** How a change made elsewhere is noticed while a reader waits. */
export interface Polling {
  everyMs: number;
  /** Whether something may have changed since the last call. */
  changed: () => boolean;
}

interface Waiter {
  topic: string;
  wake: () => void;
}

/**
 * Lets readers sleep until there may be new entries. A reader takes a ticket, reads, and waits with that ticket: whatever
 * happened in between ends the wait at once, so no change is slept through. Polls only while a reader waits: a change made elsewhere
 * since the last poll is found by the next one, whichever reader it was missed by.
 */
export class WakeUp {
  private readonly waiters = new Set<Waiter>();
  private changes = 0;
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(private readonly polling: Polling) {}

  get closed(): boolean {
    return this.ended;
  }

  ticket(): number {
    return this.changes;
  }

  /** Resolves when `topic` may have changed since the ticket, when `signal` aborts, or when this is closed. */
  async wait(topic: string, ticket: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.ended || this.changes !== ticket) {
      return;
    }
    await new Promise<void>((resolve) => {
      const waiter: Waiter = {
        topic,
        wake: () => {
          this.waiters.delete(waiter);
          signal.removeEventListener('abort', waiter.wake);
          if (this.waiters.size === 0) {
            this.stopPolling();
          }
          resolve();
        },
      };
      this.waiters.add(waiter);
      signal.addEventListener('abort', waiter.wake, { once: true });
      this.timer ??= setInterval(() => this.poll(), this.polling.everyMs);
    });
  }

  notify(topic: string): void {
    this.changes += 1;
    for (const waiter of [...this.waiters]) {
      if (waiter.topic === topic) {
        waiter.wake();
      }
    }
  }

  notifyAll(): void {
    this.changes += 1;
    for (const waiter of [...this.waiters]) {
      waiter.wake();
    }
  }

  close(): void {
    this.ended = true;
    for (const waiter of [...this.waiters]) {
      waiter.wake();
    }
    this.stopPolling();
  }

  private poll(): void {
    if (!this.ended && this.polling.changed()) {
      this.notifyAll();
    }
  }

  private stopPolling(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
