import type { Client } from '@temporalio/client';
import { boardQueue } from '../queues';
import { look, schedulerId } from './messages';

/** Has the scheduler inspect the queue now; starts it where it does not run. */
export async function wakeScheduler(client: Client): Promise<void> {
  await client.workflow.signalWithStart('admissionScheduler', {
    workflowId: schedulerId,
    taskQueue: boardQueue,
    signal: look,
  });
}
