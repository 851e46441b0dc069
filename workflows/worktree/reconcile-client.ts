import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { boardQueue } from '../queues';
import { worktreeId } from './messages';

export interface ReconcileDependencies {
  worktrees: WorktreeStore;
  client: Client;
  heartbeatTimeoutMs: number;
  log: Log;
}

/**
 * Resumes every worktree operation that was recorded and not finished. One whose workflow runs is left to it; one whose
 * workflow is lost (with Temporal's database, say) is finished by a new one, whose steps inspect git first.
 *
 * @param options.stuck also those that stopped with an error; they are tried again when a worker starts
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
    log.debug({ taskId, state }, 'unfinished worktree operation reconciled');
  }
}
