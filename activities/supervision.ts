import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { isGone, isOfThisBoot, isSameProcess, type VisibleProcess } from '../platform/processes/identity';
import type { Log } from '../platform/log/log';
import { SleepWatch } from '../platform/processes/sleep-watch';
import { AttemptMovedOnError, leaveRunning } from '../providers/agents/provider';
import type { AttemptRecord, AttemptStore } from '../stores/attempt-store';
import type { AgentStops } from './agent-stops';

/**
 * A worker goes on with an agent although its activity has timed out: Temporal may have been away for longer than a
 * heartbeat may stay away, which is no reason to end an agent that works. What says that the agent is watched over is
 * then the record of its attempt: who supervises it, and until when.
 */
export interface SupervisionDependencies {
  attempts: Pick<AttemptStore, 'supervise' | 'get'>;
  hostId: string;
  /** This worker process. */
  self: VisibleProcess;
  /** Its own queue, for what is said to its agents. */
  queue: string;
  /** How whoever polls that queue ends an agent. */
  stops: AgentStops;
  /** Aborted when this worker is asked to end: agents that outlive it are left. */
  leaving: AbortSignal;
  /** Aborted when this worker shuts down: all others are stopped. */
  stopping: AbortSignal;
  log: Log;
  /** Whether the workflow of the attempt still goes on; a workflow engine that does not answer ends nobody's run. */
  isRunOpen(attemptId: string): Promise<boolean>;
  now(): Date;
}

/** How long supervision lasts without being renewed, in milliseconds. */
const lastsMs = (): number => Context.current().info.heartbeatTimeoutMs ?? 30_000;

const untilAfter = (deps: SupervisionDependencies, ms: number): string =>
  new Date(deps.now().getTime() + ms).toISOString();

/** How long the stores are given before they are asked again, in milliseconds. */
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
 * Runs `work` with a signal to stop the agent, and says all the while that it is watched over.
 *
 * A worker that was asleep for a third of the time that supervision lasts asks the stores before anything else is recorded:
 * `awake` resolves once they have answered, and rejects when the attempt moved on meanwhile.
 *
 * @param outlives whether the agent is left to the next worker, in the place of being stopped with this one
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
  const onCancelled = () => void stopUnlessAdrift(deps, attemptId, context, stop);
  const leave = () => stop.abort(leaveRunning);
  const onStopping = outlives ? leave : () => stop.abort();
  const ending = outlives ? deps.leaving : deps.stopping;
  const forget = deps.stops.add(attemptId, () => stop.abort());
  ending.addEventListener('abort', onStopping);
  if (ending.aborted) onStopping();
  cancellationSignal.addEventListener('abort', onCancelled);
  if (cancellationSignal.aborted) onCancelled();
  const lasts = lastsMs();
  /** @throws AttemptMovedOnError */
  const renew = async (): Promise<void> => {
    const mine = await deps.attempts.supervise(attemptId, deps.self, untilAfter(deps, lasts));
    if (mine && !mine.reclaimed && !mine.completion) return;
    // This process was asleep for so long that another one goes on, or has brought the run to its end.
    if (outlives) leave();
    else stop.abort(orphaned);
    throw new AttemptMovedOnError(attemptId);
  };
  /** Asks until the stores answer: before that nobody knows whose the agent is. */
  const ask = async (): Promise<void> => {
    for (;;) {
      try {
        await renew();
        return;
      } catch (error) {
        if (error instanceof AttemptMovedOnError || stop.signal.aborted) throw error;
        await delay(askAgainMs);
      }
    }
  };
  let asking: Promise<void> = Promise.resolve();
  const sleep = new SleepWatch(lasts / 3, (sleptMs) => {
    deps.log.warn({ attemptId, sleptMs: Math.round(sleptMs) }, 'this worker was asleep; the stores are asked first');
    asking = ask();
    asking.catch(() => undefined);
  });
  const awake = (): Promise<void> => {
    sleep.look();
    return asking;
  };
  // One that fails is made good by the next one, or the agent is reclaimed: both are right.
  const renewal = setInterval(() => void renew().catch(() => undefined), lasts / 3);
  try {
    return await work(stop.signal, awake);
  } finally {
    clearInterval(renewal);
    sleep.close();
    forget();
    cancellationSignal.removeEventListener('abort', onCancelled);
    ending.removeEventListener('abort', onStopping);
    // Whoever goes on need not wait until this has lapsed; if it cannot be said, that is all that happens.
    if (outlives) await deps.attempts.supervise(attemptId, deps.self, longOver).catch(() => undefined);
  }
}

/** Why an agent is stopped whose run is gone: nobody has asked for it. */
export const orphaned = 'its run is gone';

/** Stops the agent, unless only the activity is gone while its run goes on. */
async function stopUnlessAdrift(
  deps: SupervisionDependencies,
  attemptId: string,
  { cancellationDetails: details }: Context,
  stop: AbortController,
): Promise<void> {
  const adrift = details?.notFound === true || details?.timedOut === true;
  if (!adrift) stop.abort();
  else if (!(await deps.isRunOpen(attemptId))) stop.abort(orphaned);
}

/**
 * Waits while a live worker of this host watches over the agent of a timed-out activity.
 *
 * @returns the attempt, once its claim is recorded or nobody watches over it any more
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
  if (supervisor?.hostId !== deps.hostId || supervisor.until < deps.now().toISOString()) return false;
  const { pidNamespace } = supervisor;
  // Another container's pids say nothing here: its worker counts as alive until its supervision lapses.
  if (pidNamespace === undefined || !isOfThisBoot(supervisor)) return isSameProcess(supervisor);
  return !(await isGone({ ...supervisor, pidNamespace }));
}
