import type { Candidate, Lane, Page } from './schedule';

/** The position of the choice in a lane, or in a stream of several lanes. */
export class Cursor {
  readonly id: string;
  private readonly laneOf: Lane['laneOf'];
  private readonly closed = new Set<string>();
  private page: Page;
  private position = 0;

  constructor({ id, laneOf, ...page }: Lane) {
    this.id = id;
    this.laneOf = laneOf;
    this.page = page;
  }

  /** The next entry of a lane that is not closed; `undefined` at the end. */
  *head(): Generator<string, Candidate | undefined, Page> {
    for (;;) {
      const entry = this.peek();
      if (entry ? !this.isClosed(entry) : this.page.isLast) {
        return entry;
      }
      if (entry) {
        this.position += 1;
      } else {
        this.page = yield this.id;
        this.position = 0;
      }
    }
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

  /** No further entry of the lane of this one is read; returns the id of that lane. */
  closeLane(entry: Candidate): string {
    if (!this.laneOf) {
      this.close();
      return this.id;
    }
    const lane = this.laneOf(entry);
    this.closed.add(lane);
    return lane;
  }

  /** No further entry is read. */
  close(): void {
    this.page = { entries: [], isLast: true };
  }

  private isClosed(entry: Candidate): boolean {
    return this.laneOf !== undefined && this.closed.has(this.laneOf(entry));
  }
}
