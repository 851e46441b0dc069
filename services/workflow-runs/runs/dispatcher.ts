import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Log } from '../../../platform/log/log';
import { continueTrace } from '../../../platform/tracing/spans';
import type { RunCommands } from './commands';
import type { EndRun } from './end-run';
import { dispatchId, lookAgain } from './execution/messages';
import type { workflowRun, workflowRunDispatch } from './execution/workflow';
import { reconcileRuns } from './reconcile-runs';
import type { RunRecord } from './run';
import { runStart, type RunStartDependencies, whyUnstartable } from './run-start';
import type { RunStore } from './store';

/** How long it is there without anything to do. */
const idleMs = 600_000;

/** The most runs that are read as starting at once. */
const maxStarting = 1_000;

/** Runs that are started at the same time. */
const atOnce = 20;

/** How long one look goes on while runs are queued, in milliseconds: its activity has 30 seconds. */
const longestLookMs = 10_000;

export interface DispatcherDependencies extends RunStartDependencies {
  client: Client;
  runs: RunStore;
  endRun: EndRun;
  cancelRun: RunCommands['cancel'];
  log: Log;
  now: () => Date;
  /** Runs that may be starting, or run without waiting, at a time. */
  concurrency: number;
  /** How often the workflows of active runs are looked up, in milliseconds. */
  reconcileEveryMs?: number | undefined;
}

/**
 * Starts queued runs, the oldest first, while there is capacity. A run is marked as starting before its workflow starts: one
 * whose workflow was not started because of a crash is found by that, and nothing is started twice.
 */
export function createDispatcher(dependencies: DispatcherDependencies) {
  const { client, taskQueue, runs, endRun, log, now, concurrency, reconcileEveryMs = 30_000 } = dependencies;
  let reconcileAt = 0;
  /** Looks under way in this process, and how often another one was asked for meanwhile. */
  let looks = 0;
  let asked = 0;
  /** The signal on its way, and the one that follows it. */
  let sending: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /** Runs whose workflow was started since runs were reconciled: they are starting until it has written that it runs. */
  const started = new Set<string>();

  async function reconcile(): Promise<void> {
    if (now().getTime() < reconcileAt) {
      return;
    }
    await reconcileRuns(dependencies);
    started.clear();
    reconcileAt = now().getTime() + reconcileEveryMs;
  }

  async function start(run: RunRecord): Promise<void> {
    try {
      const options = await runStart(run, dependencies);
      // Of the request that asked for it, and not of the one that the dispatcher was started by.
      await continueTrace(run.trace, () =>
        client.workflow.start<typeof workflowRun>('workflowRun', {
          ...options,
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        }),
      );
      started.add(run._id);
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) {
        started.add(run._id);
        return;
      }
      const message = whyUnstartable(error);
      if (message === undefined) {
        throw error;
      }
      log.warn({ err: error, runId: run._id }, 'run cannot be started');
      await endRun(run, { status: 'failed', message });
    }
  }

  async function signal(): Promise<void> {
    await client.workflow.signalWithStart<typeof workflowRunDispatch>('workflowRunDispatch', {
      workflowId: dispatchId(taskQueue),
      taskQueue,
      args: [idleMs],
      signal: lookAgain,
      signalArgs: [],
      staticSummary: 'start queued workflow runs',
    });
  }

  /** Starts queued runs until none is left, there is no capacity, or the look has taken long; returns whether it has taken long. */
  async function lookAtQueue(tryToStart: (run: RunRecord) => Promise<void>): Promise<boolean> {
    const until = performance.now() + longestLookMs;
    looks += 1;
    try {
      for (;;) {
        const askedBefore = asked;
        const free = concurrency - (await runs.countWorking());
        const queued = free > 0 ? await runs.oldestQueued(Math.min(free, atOnce)) : [];
        if (queued.length === 0 && asked === askedBefore) {
          return false;
        }
        if (performance.now() > until) {
          return true;
        }
        // Those that have been cancelled meanwhile are not started.
        const starting = await Promise.all(
          queued.map(({ _id }) => runs.change(_id, ['queued'], { status: 'starting' })),
        );
        await Promise.all(starting.filter((run) => run !== undefined).map(tryToStart));
      }
    } finally {
      // In the turn of the last comparison: what is asked from now on is signalled.
      looks -= 1;
    }
  }

  /** Has it check, now or after the current check, whether a run can be started. */
  async function look(): Promise<void> {
    // A look under way reads the queue again before it ends; when its process is killed, its activity is repeated.
    if (looks > 0) {
      asked += 1;
      return;
    }
    if (sending) {
      // The signal on its way may be taken before the queue has what is asked for now: all who ask meanwhile share the next one.
      next ??= sending
        .catch(() => undefined)
        .then(() => {
          next = undefined;
          return look();
        });
      return next;
    }
    sending = signal().finally(() => (sending = undefined));
    return sending;
  }

  return {
    lookAgain: look,

    /** Has the dispatcher start queued runs, if there are any, in the place of a run that has ended or waits. */
    async lookIfQueued(): Promise<void> {
      if ((await runs.oldestQueued(1)).length > 0) {
        await look();
      }
    },

    /**
     * Ends runs whose workflow is closed, then starts runs that were marked as starting, then queued ones. One that does not start delays no other; one that cannot be
     * started ends as failed.
     *
     * @throws the first failure, after every run had its turn
     */
    async startQueued(): Promise<void> {
      const failures: unknown[] = [];
      await reconcile().catch((error: unknown) => void failures.push(error));
      const tryToStart = (run: RunRecord): Promise<void> =>
        start(run).catch((error: unknown) => void failures.push(error));
      for (const run of await runs.find({ statuses: ['starting'] }, { limit: maxStarting })) {
        if (!started.has(run._id)) {
          await tryToStart(run);
        }
      }
      if (await lookAtQueue(tryToStart)) {
        await signal();
      }
      if (failures.length > 0) {
        throw failures[0];
      }
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
