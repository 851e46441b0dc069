import type { Candidate, Line, Page } from './schedule';

/** Where the choice stands in a line. */
export class Cursor {
  readonly id: string;
  private page: Page;
  private position = 0;

  constructor({ id, ...page }: Line) {
    this.id = id;
    this.page = page;
  }

  /** The next entry of the line; `undefined` at its end. */
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
    if (!entry) throw new Error(`The line ${this.id} has no entry to take.`);
    this.position += 1;
    return entry;
  }

  /** Nothing more of this line is looked at. */
  close(): void {
    this.page = { entries: [], isLast: true };
  }
}
