import { condition } from '@temporalio/workflow';
import { hasChange } from '../changes';

/** Counts which walks of a run work: the others wait for a person, a time, or their branches. */
export class Walkers {
  #working = 0;
  /** What was reported last. */
  waiting = false;

  /** Counts a walk while it lasts. */
  count<T>(walk: () => Promise<T>): Promise<T> {
    return this.#during(1, walk);
  }

  /** Does not count a walk while it waits. */
  rest<T>(wait: () => Promise<T>): Promise<T> {
    return this.#during(-1, wait);
  }

  /**
   * Reports whenever the whole run begins to wait, and when it works again. Ends only with its scope.
   *
   * @param waiting what an earlier execution reported last
   */
  async watch(report: (waiting: boolean) => Promise<void>, waiting = false): Promise<void> {
    this.waiting = waiting;
    for (;;) {
      await condition(() => (this.#working === 0) !== this.waiting);
      if (!hasChange('waiting-runs')) {
        return;
      }
      this.waiting = !this.waiting;
      await report(this.waiting);
    }
  }

  async #during<T>(by: number, work: () => Promise<T>): Promise<T> {
    this.#working += by;
    try {
      return await work();
    } finally {
      this.#working -= by;
    }
  }
}
