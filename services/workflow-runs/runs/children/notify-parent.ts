import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { lookAtChild, runWorkflowId } from '../execution/messages';
import type { RunStore } from '../store';

/** Has the parent of a run read that the run has ended. Repeatable; nothing for a run without one, or whose parent has ended. */
export const createParentNotifier =
  ({ client, runs }: { client: Client; runs: RunStore }) =>
  async (runId: string): Promise<void> => {
    const parent = (await runs.get(runId))?.parent;
    if (!parent) {
      return;
    }
    try {
      await client.workflow.getHandle(runWorkflowId(parent.run_id)).signal(lookAtChild, runId);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) {
        throw error;
      }
    }
  };

export type ParentNotifier = ReturnType<typeof createParentNotifier>;
