import { AppError } from '../../../../platform/errors/app-error';

/** Limit of one caller's waiting work; more is refused. */
const longest = 100;

/** Has work done for callers, one thing of each at a time, and as many callers at a time as the concurrency allows. */
export interface FairQueue {
  /** @throws AppError 429 when the caller has too much waiting */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
}

/** Callers alternate: one with much waiting work delays only itself. */
export function createFairQueue(concurrency: number): FairQueue {
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
        throw new AppError('TOO_MANY_UPLOADS', {
          status: 429,
          message: 'Too many of your files are waiting for inspection. Send them again later.',
          details: { retryAfterMs: 5_000 },
        });
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
