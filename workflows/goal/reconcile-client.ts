import type { Client } from '@temporalio/client';
import type { GoalStore } from '../../stores/governance/goal-store';
import { lookAt } from './client';

/** Has every goal looked at of which something is due: its workflow may not have been started, or was ended. */
export async function reconcileGoals(client: Client, goals: Pick<GoalStore, 'due'>): Promise<void> {
  for await (const goalId of goals.due()) {
    await lookAt(client, goalId);
  }
}
