/** The clocks of a watch; the system's when absent. */
export interface SleepClocks {
  /** Milliseconds that never go back, and advance while the process is stopped. */
  monotonicMs(): number;
  /** Milliseconds that advance while the host is asleep as well. */
  wallMs(): number;
}

const system: SleepClocks = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** Looks a few times within the limit, so that a sleep of that length is never taken for a slow turn. */
const looksWithinLimit = 4;

/**
 * Notices that this process did not run for longer than a limit: it was stopped, swapped out, its event loop was blocked or
 * its host was asleep. A clock that was set forward counts too, which costs a question and nothing else.
 */
export class SleepWatch {
  private last: { monotonic: number; wall: number };
  private readonly timer: NodeJS.Timeout;
  private readonly listeners = new Set<(sleptMs: number) => void>();

  constructor(
    private readonly limitMs: number,
    private readonly clocks: SleepClocks = system,
  ) {
    this.last = this.now();
    this.timer = setInterval(() => this.look(), limitMs / looksWithinLimit);
    this.timer.unref();
  }

  /**
   * @param listener called once for each time that the process slept for longer than the limit
   * @returns what removes it
   */
  onSlept(listener: (sleptMs: number) => void): () => void {
    // One of its own for each call: a listener may be added twice.
    const added = (sleptMs: number): void => listener(sleptMs);
    this.listeners.add(added);
    return () => this.listeners.delete(added);
  }

  /** Looks now: what runs first after a sleep may not be the timer. */
  look(): void {
    const { last } = this;
    this.last = this.now();
    const sleptMs = Math.max(this.last.monotonic - last.monotonic, this.last.wall - last.wall);
    if (sleptMs > this.limitMs) {
      for (const listener of [...this.listeners]) {
        listener(sleptMs);
      }
    }
  }

  close(): void {
    clearInterval(this.timer);
  }

  private now(): { monotonic: number; wall: number } {
    return { monotonic: this.clocks.monotonicMs(), wall: this.clocks.wallMs() };
  }
}
