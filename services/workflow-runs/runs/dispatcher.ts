import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { compileGraph } from '../graph/compile';
import { startProofMs, type MessageProofs } from '../../../platform/crypto/message-proof';
import { dispatchId, lookAgain, runMessage, runWorkflowId, type RunInput } from './messages';
import type { RunRecord } from './run';
import type { RunStore } from './store';
import type { workflowRun, workflowRunDispatch } from './workflow';

/** Runs that take up room. */
const running = ['starting', 'running'] as const;

/** How long it is there without anything to do. */
const idleMs = 600_000;

/** The most runs that are looked at as starting at once. */
const mostStarting = 1_000;

export interface DispatcherDependencies {
  client: Client;
  taskQueue: string;
  messageProofs: Pick<MessageProofs, 'sign'>;
  runs: RunStore;
  /** Runs that may be starting or running at a time. */
  concurrency: number;
}

export function runInput({ _id: runId, dot_source }: RunRecord, proofs: Pick<MessageProofs, 'sign'>): RunInput {
  const input = { runId, graph: compileGraph(dot_source) };
  return { ...input, proof: proofs.sign(runMessage('start', runId, input), startProofMs) };
}

/** How a run's workflow is started, by whoever does. */
export const runStart = (
  run: RunRecord,
  { taskQueue, messageProofs }: Pick<DispatcherDependencies, 'taskQueue' | 'messageProofs'>,
) => ({
  workflowId: runWorkflowId(run._id),
  taskQueue,
  args: [runInput(run, messageProofs)] as [RunInput],
  staticSummary: run.title.slice(0, 200),
});

/**
 * Starts queued runs, the oldest first, while there is room. A run is marked as starting before its workflow is started: one
 * whose workflow a crash kept from being started is found by that, and nothing is started twice.
 */
export function createDispatcher({ client, taskQueue, messageProofs, runs, concurrency }: DispatcherDependencies) {
  async function start(run: RunRecord): Promise<void> {
    try {
      await client.workflow.start<typeof workflowRun>('workflowRun', {
        ...runStart(run, { taskQueue, messageProofs }),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  return {
    /** Has it looked, now or as soon as the look that is under way is over, whether a run can be started. */
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

    async startQueued(): Promise<void> {
      for (const run of await runs.find({ statuses: ['starting'] }, { limit: mostStarting })) await start(run);
      while ((await runs.count(running)) < concurrency) {
        const oldest = await runs.oldestQueued();
        if (!oldest) return;
        // Somebody may have cancelled it meanwhile; then there is another look.
        const starting = await runs.change(oldest._id, ['queued'], { status: 'starting' });
        if (starting) await start(starting);
      }
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
