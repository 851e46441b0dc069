import type { RunRecovery } from '../../contracts/runs/recovery';
import { compact } from '../../platform/json/compact';
import type { AuditInput, AuditStore } from '../system/audit-store';
import type { ActiveRunStore } from './admission/active-run-store';
import { releaseLease } from './admission/release-lease';
import type { RecoveryStore } from './recovery-store';
import type { WorktreeStore } from './workspaces/worktree-store';

export interface TaskHolds {
  activeRuns: Pick<ActiveRunStore, 'release'>;
  worktrees: Pick<WorktreeStore, 'get' | 'change'>;
  now(): Date;
}

export interface RecoveryCancelDependencies extends TaskHolds {
  recoveries: Pick<RecoveryStore, 'get' | 'move'>;
  audit: Pick<AuditStore, 'record'>;
}

/** Who cancels; an operator may have stated another actor. */
export interface Canceller {
  actor: string;
  claimedActor?: string;
}

/** What followed a failed attempt is not launched any more. */
const recoveryCancelled = (
  { attemptId, taskId, nextAttemptId }: RunRecovery,
  { actor, claimedActor }: Canceller,
): AuditInput => ({
  action: 'recovery.cancel',
  actor,
  resource: attemptId,
  details: { taskId, nextAttemptId: nextAttemptId ?? null, ...compact({ claimedActor }) },
  once: `recovery.cancel/${attemptId}`,
});

/** Releases the task and its worktree, as far as they are the attempt's. Repeating it changes nothing. */
export async function releaseTask(deps: TaskHolds, taskId: string, attemptId: string): Promise<void> {
  await releaseLease(deps, { taskId, attemptId });
  await deps.activeRuns.release(taskId, attemptId);
}

/**
 * Cancels what has not been launched yet, from the moment its record can be read, and releases the task and its worktree. The
 * record decides which came first, the cancel or the launch.
 *
 * @returns the current recovery; `null` when there is none
 */
export async function cancelRecovery(
  deps: RecoveryCancelDependencies,
  attemptId: string,
  by: Canceller,
): Promise<RunRecovery | null> {
  const fields = { action: 'cancelled', state: 'cancelled', cancelledBy: by.actor } as const;
  await deps.recoveries.move(attemptId, {
    from: ['scheduled', 'launching'],
    fields,
    updatedAt: deps.now().toISOString(),
  });
  const recovery = await deps.recoveries.get(attemptId);
  if (recovery?.cancelledBy === by.actor) {
    await deps.audit.record(recoveryCancelled(recovery, by));
  }
  if (recovery?.state === 'cancelled' && recovery.nextAttemptId !== undefined) {
    await releaseTask(deps, recovery.taskId, recovery.nextAttemptId);
  }
  return recovery ?? null;
}
