import { AppError } from '../errors/app-error';

export interface TurnLimits {
  /** How many run at once. */
  running: number;
  /** How many more may wait; beyond them, callers are refused. */
  waiting: number;
  /** Of what there are too many then. */
  what: string;
}

export interface Turns {
  /** Runs it when it is its turn, in the order of the calls. @throws AppError 429 when too many wait already */
  take<T>(run: () => Promise<T>): Promise<T>;
}

/** Bounds how much of one kind of work this process does at a time. */
export function createTurns({ running: most, waiting: mostWaiting, what }: TurnLimits): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function begin(): Promise<void> {
    if (running < most) {
      running += 1;
      return;
    }
    if (waiting.length >= mostWaiting) {
      throw new AppError('RATE_LIMITED', {
        status: 429,
        message: `There are too many ${what}. Try again in a second.`,
        details: { retryAfterSeconds: 1 },
      });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return {
    async take(run) {
      await begin();
      try {
        return await run();
      } finally {
        const next = waiting.shift();
        // The place is handed on, so that no caller that comes now is before one that has waited.
        if (next) {
          next();
        } else {
          running -= 1;
        }
      }
    },
  };
}
