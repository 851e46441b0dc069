import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { MessageProofs } from '../../platform/crypto/message-proof';
import type { Graph } from '../../services/workflow-runs/graph/graph';
import { createRunCommands } from '../../services/workflow-runs/runs/commands';
import { createRunEnding } from '../../services/workflow-runs/runs/end-run';
import type { Answer } from '../../services/workflow-runs/runs/execution/messages';
import type { workflowRun } from '../../services/workflow-runs/runs/execution/workflow';
import type { RunRecord } from '../../services/workflow-runs/runs/run';
import { runStart, whyUnstartable } from '../../services/workflow-runs/runs/run-start';
import type { WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import { boardQueue } from '../queues';

export interface WorkflowRunClientDependencies {
  workflowRuns: WorkflowRunStore;
  messageProofs: Pick<MessageProofs, 'sign'>;
  now: () => Date;
}

/** The runs of the board store what definitions compile to, and no text that has to be compiled. */
const graphs = { compile: (source: string): Promise<Graph> => Promise.resolve(JSON.parse(source) as Graph) };
/** Events of these runs are not served: what happens is in their records. */
export const noEvents = { append: () => Promise.resolve([]) };

/** No definition of the board has a stage that runs another workflow. */
export const noParent = (): Promise<void> => Promise.resolve();

/** Starts the runs of workflows and sends commands to them. */
export function createWorkflowRunClient(client: Client, deps: WorkflowRunClientDependencies) {
  const { workflowRuns, now } = deps;
  const { engine: runs, continuations } = workflowRuns;
  const messageProofs = deps.messageProofs as MessageProofs;
  const starting = { taskQueue: boardQueue, messageProofs, graphs };
  const endRun = createRunEnding({ runs, events: noEvents, continuations, notifyParent: noParent, now });
  const commands = createRunCommands({ ...starting, client, runs, endRun });

  return {
    endRun,

    /** Starts the workflow of a run once; one that can never be started ends as failed. */
    async start(run: RunRecord): Promise<void> {
      try {
        await client.workflow.start<typeof workflowRun>('workflowRun', {
          ...(await runStart(run, starting)),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
        });
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) {
          return;
        }
        const message = whyUnstartable(error);
        if (message === undefined) {
          throw error;
        }
        await endRun(run, { status: 'failed', message });
      }
    },

    /** @throws AppError 409 when the question is not open any more, 429, 503 */
    answer: (runId: string, message: Answer): Promise<void> => commands.answer(runId, 'The run has ended.', message),

    cancelRun: commands.cancel,

    /** @throws AppError 409 when it has ended, 503 */
    cancel: (run: RunRecord): Promise<void> => commands.cancel(run, 'The run has ended.'),
  };
}
export type WorkflowRunClient = ReturnType<typeof createWorkflowRunClient>;
