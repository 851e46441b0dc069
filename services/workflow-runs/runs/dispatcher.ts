import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../../platform/crypto/message-proof';
import { compileGraph } from '../graph/compile';
import { dispatchId, lookAgain, type RunInput, runMessage, runWorkflowId } from './execution/messages';
import type { workflowRun, workflowRunDispatch } from './execution/workflow';
import type { RunRecord } from './run';
import type { RunStore } from './store';

/** Runs that count against the concurrency limit. */
const running = ['starting', 'running'] as const;

/** How long it is there without anything to do. */
const idleMs = 600_000;

/** The most runs that are read as starting at once. */
const maxStarting = 1_000;

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

/** The start options of a run's workflow, for every caller. */
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
 * Starts queued runs, the oldest first, while there is capacity. A run is marked as starting before its workflow starts: one
 * whose workflow was not started because of a crash is found by that, and nothing is started twice.
 */
export function createDispatcher({ client, taskQueue, messageProofs, runs, concurrency }: DispatcherDependencies) {
  async function start(run: RunRecord): Promise<void> {
    try {
      await client.workflow.start<typeof workflowRun>('workflowRun', {
        ...runStart(run, { taskQueue, messageProofs }),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        throw error;
      }
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

    async startQueued(): Promise<void> {
      for (const run of await runs.find({ statuses: ['starting'] }, { limit: maxStarting })) {
        await start(run);
      }
      while ((await runs.count(running)) < concurrency) {
        const oldest = await runs.oldestQueued();
        if (!oldest) {
          return;
        }
        // It may have been cancelled meanwhile; then the queue is read again.
        const starting = await runs.change(oldest._id, ['queued'], { status: 'starting' });
        if (starting) {
          await start(starting);
        }
      }
    },
  };
}

export type Dispatcher = ReturnType<typeof createDispatcher>;
