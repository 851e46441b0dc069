import type { Ending } from '../workflows/agent-run/workflow';
import type { AttemptRecord } from '../stores/attempt-store';
import type { RecoveryStore } from '../stores/recovery-store';

/** Longest wait before a retry, in milliseconds. */
const maxBackoffMs = 30_000;

export interface RetryPlan {
  /** The id the next attempt has if there is one; fixed by the workflow, so that a repeated activity agrees. */
  nextAttemptId: string;
  maxRetries: number;
  retryBackoffMs: number;
}

export interface Retry {
  attemptId: string;
  retryNumber: number;
  backoffMs: number;
}

/**
 * Decides what follows a lost run and writes it down before anything is launched (`run-recovery/v1`). Only a run whose
 * host was cleaned up is retried: an agent that may still be alive must not meet a second one in its worktree.
 */
export async function scheduleRetry(
  { recoveries, now }: { recoveries: RecoveryStore; now: () => Date },
  record: AttemptRecord,
  plan: RetryPlan,
  ending: Ending,
): Promise<Retry | undefined> {
  if (ending.by !== 'lost') return undefined;
  const retryNumber = record.retryNumber + 1;
  const due = ending.hostReclaimed && retryNumber <= plan.maxRetries;
  const backoffMs = due ? Math.min(plan.retryBackoffMs * 2 ** record.retryNumber, maxBackoffMs) : 0;
  const at = now();
  const stored = await recoveries.schedule({
    schemaVersion: 'run-recovery/v1',
    taskId: record.taskId,
    attemptId: record._id,
    rootAttemptId: record.rootAttemptId,
    sequence: retryNumber,
    failureClass: 'transient-transport',
    action: due ? 'retry' : 'terminal',
    state: due ? 'scheduled' : 'exhausted',
    reason: ending.reason,
    retryNumber: record.retryNumber,
    maxRetries: plan.maxRetries,
    backoffMs,
    notBefore: new Date(at.getTime() + backoffMs).toISOString(),
    ...(due ? { nextAttemptId: plan.nextAttemptId } : {}),
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
    revision: 1,
  });
  if (stored.nextAttemptId === undefined) return undefined;
  return { attemptId: stored.nextAttemptId, retryNumber, backoffMs: stored.backoffMs };
}
