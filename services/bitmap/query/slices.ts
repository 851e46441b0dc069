import type { Steps } from '../steps';
import { QueryError } from './errors';

/** How the steps of one query are taken. */
export interface Course {
  /** Whether others may be served between two steps. */
  mayPause: boolean;
  /** When it is given up, and how long that is from its start, in milliseconds. */
  until: number;
  withinMs: number;
}

/** A course that begins now. */
export const courseOf = (withinMs: number, mayPause: boolean): Course => ({
  mayPause,
  until: performance.now() + withinMs,
  withinMs,
});

/** As many long queries are under way as may be. Its status is 429. */
export class TooManyQueriesError extends QueryError {
  constructor() {
    super('executing: too many long queries are under way; try again');
  }
}

export const tooLate = ({ withinMs }: Pick<Course, 'withinMs'>): QueryError =>
  new QueryError(`executing: the query took longer than ${withinMs} ms, which is the most it may take`);

/** How long a query has at first, and each time that its turn comes again, in milliseconds. */
const usualFirstMs = 5;
const sliceMs = 10;

interface Paused {
  /** Takes steps for so long; whether it has ended. */
  advance(ms: number): boolean;
}

/**
 * Executes queries in slices, so that none holds up the others for longer than a slice and a step. Nearly all are over
 * within the first one; the rest take turns, one in each turn of the event loop.
 */
export class Slices {
  private readonly paused: Paused[] = [];
  private scheduled = false;
  private underWay = 0;

  /**
   * @param maxLong queries that may be under way for longer than their first slice
   * @param firstMs how long that is, in milliseconds
   */
  constructor(
    private readonly maxLong = 64,
    private readonly firstMs = usualFirstMs,
  ) {}

  /** Whether another long query may begin. */
  get hasRoom(): boolean {
    return this.underWay < this.maxLong;
  }

  /**
   * The result of all steps: a promise where they take longer than the first slice, or come to one.
   *
   * @throws QueryError when they take too long, TooManyQueriesError; and what the steps throw
   */
  run<T>(steps: Steps<T | Promise<T>>, course: Course): T | Promise<T> {
    const first = advance(steps, course, this.firstMs);
    if (first) {
      return first.value instanceof Promise ? this.during(first.value) : first.value;
    }
    if (!this.hasRoom) {
      abandon(steps);
      throw new TooManyQueriesError();
    }
    const rest = new Promise<T>((resolve, reject) => {
      this.paused.push({
        advance: (ms) => {
          try {
            const end = advance(steps, course, ms);
            if (end) {
              resolve(end.value);
            }
            return end !== undefined;
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
            return true;
          }
        },
      });
      this.schedule();
    });
    return this.during(rest);
  }

  /** Counts a query as under way until its result is there. */
  private async during<T>(result: Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await result;
    } finally {
      this.underWay -= 1;
    }
  }

  private schedule(): void {
    if (this.scheduled) {
      return;
    }
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      const next = this.paused.shift();
      if (next && !next.advance(sliceMs)) {
        this.paused.push(next);
      }
      if (this.paused.length > 0) {
        this.schedule();
      }
    });
  }
}

/** Ends steps that are not going to be taken. */
const abandon = (steps: Steps<unknown>): void => void steps.return(undefined);

/** Takes steps, as long as they may not pause or for so long; their result when they have ended. */
function advance<T>(steps: Steps<T>, course: Course, forMs: number): { value: T } | undefined {
  const end = performance.now() + forMs;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return { value: step.value };
    }
    const now = performance.now();
    if (now >= course.until) {
      abandon(steps);
      throw tooLate(course);
    }
    if (course.mayPause && now >= end) {
      return undefined;
    }
  }
}
