import { AppError } from '../errors/app-error';

/** Has work done for callers, one thing of each at a time, and as many callers at a time as the concurrency allows. */
export interface FairQueue {
  /** @throws AppError 429 when the caller has too much waiting */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
}

export interface FairQueueOptions {
  /** How many callers have work done at a time. */
  concurrency: number;
  /** How much work of one caller may wait; more is refused. */
  longest: number;
  /** The refusal: its code, and what the caller may do. */
  refusal: { code: string; message: string };
}

/** Callers alternate: one with much waiting work delays only itself. */
export function createFairQueue({ concurrency, longest, refusal }: FairQueueOptions): FairQueue {
  /** In the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  const busy = new Set<string>();

  const next = (): void => {
    for (const [caller, jobs] of waiting) {
      if (busy.size >= concurrency) {
        return;
      }
      if (busy.has(caller)) {
        continue;
      }
      const [job, ...rest] = jobs;
      waiting.delete(caller);
      if (rest.length > 0) {
        waiting.set(caller, rest);
      }
      busy.add(caller);
      job?.();
    }
  };

  return {
    async run(caller, work) {
      const jobs = waiting.get(caller) ?? [];
      if (jobs.length >= longest) {
        const { code, message } = refusal;
        throw new AppError(code, { status: 429, message, details: { retryAfterMs: 5_000 } });
      }
      await new Promise<void>((begin) => {
        waiting.set(caller, [...jobs, begin]);
        next();
      });
      try {
        return await work();
      } finally {
        busy.delete(caller);
        next();
      }
    },
  };
}
