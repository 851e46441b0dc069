import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowStatus } from '../../activities/reconcile/activities';

/** The status of a workflow in Temporal. A failure of Temporal is no evidence: the error is the caller's. */
export async function describeStatus(client: Client, workflowId: string): Promise<WorkflowStatus> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW' ? 'open' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      return 'missing';
    }
    throw error;
  }
}
