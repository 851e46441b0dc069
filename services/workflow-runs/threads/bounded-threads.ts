import { bulkhead, BulkheadRejectedError } from 'cockatiel';
import { Piscina } from 'piscina';

export interface BoundedThreadsOptions {
  /** The compiled script of the threads. */
  script: string;
  /** How long one piece of work may take, in milliseconds. */
  withinMs: number;
  /** How many pieces are worked on at a time, each in a thread, and how many wait for that. */
  threads: number;
  waiting: number;
}

/** Threads for work that callers may make long: a thread whose time or memory is up ends, and another one takes its place. */
export interface BoundedThreads<Input, Output> {
  /**
   * @throws ThreadsBusyError when too much work waits, WorkGivenUpError when it took too long or too much memory
   */
  run(input: Input): Promise<Output>;
  close(): Promise<void>;
}

/** As much work waits as may. */
export class ThreadsBusyError extends Error {
  override readonly name = 'ThreadsBusyError';
}

/** Work was given up; another try may succeed, on a machine that is less busy. */
export class WorkGivenUpError extends Error {
  override readonly name = 'WorkGivenUpError';
}

/** Memory of JavaScript in one thread, in megabytes. */
const maxHeapMb = 128;

/** Threads are started when there is work, have none of our settings, and end when there is none. */
export function createBoundedThreads<Input, Output>({
  script,
  withinMs,
  threads,
  waiting,
}: BoundedThreadsOptions): BoundedThreads<Input, Output> {
  const pool = new Piscina<Input, Output>({
    filename: script,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: 10_000,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const turns = bulkhead(threads, waiting);

  async function work(input: Input): Promise<Output> {
    const late = AbortSignal.timeout(withinMs);
    try {
      return await pool.run(input, { signal: late });
    } catch (error) {
      throw new WorkGivenUpError(
        late.aborted
          ? `it took longer than ${withinMs / 1_000} s`
          : error instanceof Error
            ? error.message
            : String(error),
      );
    }
  }

  return {
    run: (input) =>
      turns
        .execute(() => work(input))
        .catch((error: unknown) => {
          throw error instanceof BulkheadRejectedError ? new ThreadsBusyError('too much work waits') : error;
        }),
    close: () => pool.destroy(),
  };
}
