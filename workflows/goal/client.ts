import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { boardQueue } from '../queues';
import { goalWorkflowId, lookAtGoal } from './messages';

/** Has the workflow of a goal read it; starts it where it does not run. */
export async function lookAt(client: Client, goalId: string): Promise<void> {
  await client.workflow.signalWithStart('goal', {
    workflowId: goalWorkflowId(goalId),
    taskQueue: boardQueue,
    signal: lookAtGoal,
    args: [goalId],
    staticSummary: `goal ${goalId}`,
  });
}

/** How long a caller waits for Temporal, in milliseconds: the stores know what is due. */
const withinMs = 1_000;

/** The workflows behind the endpoints of goals. */
export const createGoalLauncher = (client: Client, log: Log) => ({
  /** The goal stands; a failure here is reconciled by the workers, which read every minute which goals are due. */
  async look(goalId: string): Promise<void> {
    await client
      .withDeadline(Date.now() + withinMs, () => lookAt(client, goalId))
      .catch((error: unknown) => log.warn({ err: error, goalId }, 'goal workflow start deferred'));
  },
});
