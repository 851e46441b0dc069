import { AsyncLocalStorage } from 'node:async_hooks';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Log } from '../../log/log';
import type { SleepWatch } from '../../processes/sleep-watch';

/** The failure type of an activity that was stopped because its worker had slept. */
export const workerSlept = 'WORKER_SLEPT';

/** Thrown into an activity at its first step after its worker has slept. */
export class WorkerSleptError extends Error {
  override readonly name = 'WorkerSleptError';
}

/** Stops the activities of a worker that has slept, so that each is repeated and asks the stores again. */
export interface SleepGuard {
  /** Runs the activities under the guard. */
  interceptor: ActivityInterceptorsFactory;
  /**
   * To be called right before every step that changes something.
   *
   * @throws WorkerSleptError in an activity during which the worker has slept
   */
  assertAwake: () => void;
}

interface Running {
  activity: string;
  sleptMs?: number;
  refusal?: ApplicationFailure;
}

/**
 * While a worker sleeps (SIGSTOP, a swapping or sleeping host), another one may take its work over. Activities that ran
 * meanwhile get no further than their next step, and fail so that Temporal repeats them at once.
 *
 * @param options.isExempt activities that are not stopped: they ask the stores by themselves, or are never repeated
 */
export function createSleepGuard({
  watch,
  isExempt,
  log,
}: {
  watch: Pick<SleepWatch, 'look' | 'onSlept'>;
  isExempt: (info: Info) => boolean;
  log: Log;
}): SleepGuard {
  const current = new AsyncLocalStorage<Running>();
  const running = new Set<Running>();
  watch.onSlept((sleptMs) => {
    for (const each of running) {
      each.sleptMs = sleptMs;
    }
    if (running.size > 0) {
      const activities = [...running].map(({ activity }) => activity);
      log.warn({ sleptMs: Math.round(sleptMs), activities }, 'worker resumed from sleep; activities are stopped');
    }
  });

  return {
    assertAwake() {
      watch.look();
      const own = current.getStore();
      // What an activity has left behind it is no part of it.
      if (own?.sleptMs === undefined || !running.has(own)) {
        return;
      }
      own.refusal = sleptFailure(own.sleptMs);
      throw new WorkerSleptError(own.refusal.message);
    },

    interceptor: ({ info }) => ({
      inbound: {
        async execute(input, next) {
          if (isExempt(info)) {
            return next(input);
          }
          // A sleep before it began is none of its own.
          watch.look();
          const own: Running = { activity: info.activityType };
          running.add(own);
          try {
            const result: unknown = await current.run(own, () => next(input));
            assertNotRefused(own);
            return result;
          } catch (error) {
            // However the activity took the refusal, a step of it was not done.
            throw own.refusal ?? error;
          } finally {
            running.delete(own);
          }
        },
      },
    }),
  };
}

function assertNotRefused({ refusal }: Running): void {
  if (refusal) {
    throw refusal;
  }
}

const sleptFailure = (sleptMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    type: workerSlept,
    message: `The worker did not run for ${Math.round(sleptMs)} ms; the activity is repeated.`,
    nextRetryDelay: '1 millisecond',
  });
