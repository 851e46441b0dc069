import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { Log } from '../../../platform/log/log';
import { isGone, isOfThisBoot, isSameProcess, type VisibleProcess } from '../../../platform/processes/identity';
import type { SleepWatch } from '../../../platform/processes/sleep-watch';
import { AttemptMovedOnError, detachReason } from '../../../providers/agents/provider';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { AgentStops } from './agent-stops';

/**
 * A worker continues to supervise an agent although its activity has timed out: Temporal may have been away for longer than the
 * heartbeat timeout, which is no reason to end an agent that works. The record of the attempt is then authoritative: who
 * supervises the agent, and until when.
 */
export interface SupervisionDependencies {
  attempts: Pick<AttemptStore, 'supervise' | 'get'>;
  hostId: string;
  /** This worker process. */
  self: VisibleProcess;
  /** Its own queue, for commands to its agents. */
  queue: string;
  /** How the poller of that queue ends an agent. */
  stops: AgentStops;
  /** Aborted when this worker is to end: agents that outlive it are detached. */
  leaving: AbortSignal;
  /** Aborted when this worker shuts down: all others are stopped. */
  stopping: AbortSignal;
  log: Log;
  /** Notices that this process slept. */
  sleep: Pick<SleepWatch, 'look' | 'onSlept'>;
  /** Whether the workflow of the attempt is open; a failure of the workflow engine ends no run. */
  isRunOpen(attemptId: string): Promise<boolean>;
  now(): Date;
}

/** How long supervision lasts without being renewed, in milliseconds. */
const lastsMs = (): number => Context.current().info.heartbeatTimeoutMs ?? 30_000;

const untilAfter = (deps: SupervisionDependencies, ms: number): string =>
  new Date(deps.now().getTime() + ms).toISOString();

/** Pause between two tries of the stores, in milliseconds. */
const askAgainMs = 200;

/** This process as the supervisor of an attempt that it is about to dispatch. */
export const supervisorOf = (deps: SupervisionDependencies): NonNullable<AttemptRecord['supervisor']> => ({
  ...deps.self,
  hostId: deps.hostId,
  queue: deps.queue,
  until: untilAfter(deps, lastsMs()),
});

/** A time that is always over. */
const longOver = new Date(0).toISOString();

/**
 * Runs `work` with a signal to stop the agent, and records all the while that it is supervised.
 *
 * A worker that was asleep reads the stores before anything else is recorded: `awake` resolves once they have responded, and rejects when the attempt moved on meanwhile.
 *
 * @param outlives whether the agent is detached for the next worker, instead of being stopped with this one
 */
export async function supervised<T>(
  deps: SupervisionDependencies,
  { attemptId, outlives }: { attemptId: string; outlives: boolean },
  work: (stop: AbortSignal, awake: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const { cancellationSignal } = context;
  const stop = new AbortController();
  // Listeners run outside the activity, so they are handed its context.
  const onCancelled = () => void stopUnlessAdrift(deps, attemptId, { context, stop });
  const detach = () => stop.abort(detachReason);
  const onStopping = outlives ? detach : () => stop.abort();
  const ending = outlives ? deps.leaving : deps.stopping;
  const forget = deps.stops.add(attemptId, () => stop.abort());
  ending.addEventListener('abort', onStopping);
  if (ending.aborted) {
    onStopping();
  }
  cancellationSignal.addEventListener('abort', onCancelled);
  if (cancellationSignal.aborted) {
    onCancelled();
  }
  const lasts = lastsMs();
  /** @throws AttemptMovedOnError */
  const renew = async (): Promise<void> => {
    const mine = await deps.attempts.supervise(attemptId, deps.self, untilAfter(deps, lasts));
    if (mine && !mine.reclaimed && !mine.completion) {
      return;
    }
    // This process was asleep for so long that another one has adopted the run, or has brought it to its end.
    if (outlives) {
      detach();
    } else {
      stop.abort(orphaned);
    }
    throw new AttemptMovedOnError(attemptId);
  };
  /** Retries until the stores respond: before that the agent's supervisor is not determined. */
  const ask = async (): Promise<void> => {
    for (;;) {
      try {
        await renew();
        return;
      } catch (error) {
        if (error instanceof AttemptMovedOnError || stop.signal.aborted) {
          throw error;
        }
        await delay(askAgainMs);
      }
    }
  };
  let asking: Promise<void> = Promise.resolve();
  const removeSleepListener = deps.sleep.onSlept((sleptMs) => {
    deps.log.warn({ attemptId, sleptMs: Math.round(sleptMs) }, 'worker resumed from sleep; ownership check required');
    asking = ask();
    asking.catch(() => undefined);
  });
  const awake = (): Promise<void> => {
    deps.sleep.look();
    return asking;
  };
  // One that fails is made good by the next one, or the agent is reclaimed: both are right.
  const renewal = setInterval(() => void renew().catch(() => undefined), lasts / 3);
  try {
    return await work(stop.signal, awake);
  } finally {
    clearInterval(renewal);
    removeSleepListener();
    forget();
    cancellationSignal.removeEventListener('abort', onCancelled);
    ending.removeEventListener('abort', onStopping);
    // The next worker need not wait until this has lapsed; a failure to record it costs only that wait.
    if (outlives) {
      await deps.attempts.supervise(attemptId, deps.self, longOver).catch(() => undefined);
    }
  }
}

/** Why an agent is stopped whose run is gone: no actor has requested it. */
export const orphaned = 'its run is gone';

/** Stops the agent, unless only the activity is gone while its run is active. */
async function stopUnlessAdrift(
  deps: SupervisionDependencies,
  attemptId: string,
  { context: { cancellationDetails: details }, stop }: { context: Context; stop: AbortController },
): Promise<void> {
  const adrift = details?.notFound === true || details?.timedOut === true;
  if (!adrift) {
    stop.abort();
  } else if (!(await deps.isRunOpen(attemptId))) {
    stop.abort(orphaned);
  }
}

/**
 * Waits while a live worker of this host supervises the agent of a timed-out activity.
 *
 * @returns the attempt, once its claim is recorded or its supervision has ended
 */
export async function whileSupervised(
  deps: SupervisionDependencies,
  record: AttemptRecord,
  signal: AbortSignal,
): Promise<AttemptRecord> {
  let current = record;
  while (!current.claim && (await isSupervised(deps, current))) {
    await delay(100, undefined, { signal });
    current = (await deps.attempts.get(record._id)) ?? current;
  }
  return current;
}

async function isSupervised(deps: SupervisionDependencies, { supervisor }: AttemptRecord): Promise<boolean> {
  if (supervisor?.hostId !== deps.hostId || supervisor.until < deps.now().toISOString()) {
    return false;
  }
  const { pidNamespace } = supervisor;
  // Another container's pids mean nothing here: its worker counts as alive until its supervision lapses.
  if (pidNamespace === undefined || !isOfThisBoot(supervisor)) {
    return isSameProcess(supervisor);
  }
  return !(await isGone({ ...supervisor, pidNamespace }));
}
