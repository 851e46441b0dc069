import type { Candidate, Lane, Page } from './schedule';

/** The position of the choice in a lane. */
export class Cursor {
  readonly id: string;
  private page: Page;
  private position = 0;

  constructor({ id, ...page }: Lane) {
    this.id = id;
    this.page = page;
  }

  /** The next entry of the lane; `undefined` at its end. */
  *head(): Generator<string, Candidate | undefined, Page> {
    while (this.position >= this.page.entries.length && !this.page.isLast) {
      this.page = yield this.id;
      this.position = 0;
    }
    return this.peek();
  }

  peek(): Candidate | undefined {
    return this.page.entries[this.position];
  }

  take(): Candidate {
    const entry = this.peek();
    if (!entry) {
      throw new Error(`The lane ${this.id} has no entry.`);
    }
    this.position += 1;
    return entry;
  }

  /** No further entry of this lane is read. */
  close(): void {
    this.page = { entries: [], isLast: true };
  }
}
