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

  async function reconcile(): Promise<void> {
    if (now().getTime() < reconcileAt) {
      return;
    }
    await reconcileRuns(dependencies);
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
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) {
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

  return {
    /** Has it check, now or after the current check, whether a run can be started. */
    async lookAgain(): Promise<void> {
      await client.workflow.signalWithStart<typeof workflowRunDispatch>('workflowRunDispatch', {
        workflowId: dispatchId(taskQueue),
        taskQueue,
        args: [idleMs],
        signal: lookAgain,
        signalArgs: [],
        staticSummary: 'start queued workflow runs',
      });
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
        await tryToStart(run);
      }
      while ((await runs.countWorking()) < concurrency) {
        const oldest = await runs.oldestQueued();
        if (!oldest) {
          break;
        }
        // It may have been cancelled meanwhile; then the queue is read again.
        const starting = await runs.change(oldest._id, ['queued'], { status: 'starting' });
        if (starting) {
          await tryToStart(starting);
        }
      }
      if (failures.length > 0) {
        throw failures[0];
      }
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
