import type { Client } from '@temporalio/client';
import type { Log } from '../platform/log/log';
import type { WorktreeStore } from '../stores/worktree-store';
import { boardQueue } from '../workflows/queues';
import { worktreeId } from '../workflows/worktree/messages';
import { searchAttributes } from '../platform/temporal/search-attributes';

export interface ReconcileDependencies {
  worktrees: WorktreeStore;
  client: Client;
  heartbeatTimeoutMs: number;
  log: Log;
}

/**
 * Takes up every worktree operation that was written down and not finished. One whose workflow runs is left to it; one
 * whose workflow is lost (with Temporal's database, say) is finished by a new one, whose steps look at git first.
 *
 * @param options.stuck also those that stood still with an error; they are tried again when a worker starts
 */
export async function reconcileWorktrees(
  { worktrees, client, heartbeatTimeoutMs, log }: ReconcileDependencies,
  { stuck }: { stuck: boolean },
): Promise<void> {
  for await (const { _id: taskId, state, operation } of worktrees.unsettled({ stuck })) {
    await client.workflow.start('worktree', {
      workflowId: worktreeId(taskId),
      taskQueue: boardQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ taskId, actor: 'system:reconcile', request: null, heartbeatTimeoutMs }],
      staticSummary: `finish ${operation?.kind ?? state} of ${taskId}`,
      typedSearchAttributes: [{ key: searchAttributes.taskId, value: taskId }],
    });
    log.debug({ taskId, state }, 'an unfinished worktree operation is seen to');
  }
}
