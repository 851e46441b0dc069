import type { FailureClass, RunRecovery } from '../../contracts/runs/recovery';
import { isRetryable, needsOperator } from './classify';

/** Longest wait before a retry, in milliseconds. */
const longestBackoffMs = 30_000;
/** How far a wait is moved at random, so that what failed together does not come back together. */
const jitter = 0.2;

export interface Failure {
  failureClass: FailureClass;
  /** Retries before this attempt. */
  retryNumber: number;
  maxRetries: number;
  agent: string;
  /** The agent of a fallback when no retry remains. */
  fallbackAgent: string | undefined;
  /** Whether an unreachable agent may still be alive. */
  agentMayLive: boolean;
  firstBackoffMs: number;
  /** Whether it failed for its worker's death alone: another worker is live, and nothing else to wait for. */
  workerLost?: boolean;
  /** From 0 to 1; the same for the same attempt. */
  random: number;
}

/** What follows a failure. Without a route, nothing follows by itself. */
export interface RecoveryDecision {
  action: RunRecovery['action'];
  state: RunRecovery['state'];
  backoffMs: number;
  route?: { agent: string; reason: string };
}

/** The wait before the n-th retry (from 0), in milliseconds: doubling, bounded, and moved by up to a fifth. */
export function backoffOf(retryNumber: number, firstMs: number, random: number): number {
  const ceiling = Math.min(longestBackoffMs, firstMs * 2 ** Math.min(retryNumber, 30));
  return Math.min(longestBackoffMs, Math.round(ceiling * (1 - jitter + 2 * jitter * random)));
}

/** Decides what follows a failed attempt: a retry, another agent, a person, or nothing. */
export function decideRecovery(failure: Failure): RecoveryDecision {
  const { failureClass, retryNumber, maxRetries, agent, fallbackAgent, agentMayLive } = failure;
  const nothing: RecoveryDecision = { action: 'terminal', state: 'exhausted', backoffMs: 0 };
  if (failureClass === 'cancellation') {
    return { action: 'cancelled', state: 'cancelled', backoffMs: 0 };
  }
  if (needsOperator(failureClass)) {
    return { action: 'approval', state: 'approval-required', backoffMs: 0 };
  }
  // An agent that may still be alive must not meet a second one in its worktree.
  if (!isRetryable(failureClass) || agentMayLive) {
    return nothing;
  }
  const firstBackoffMs = failure.workerLost && retryNumber === 0 ? 0 : failure.firstBackoffMs;
  const backoffMs = backoffOf(retryNumber, firstBackoffMs, failure.random);
  if (retryNumber < maxRetries) {
    const reason = `retry ${retryNumber + 1} of ${maxRetries}`;
    return { action: 'retry', state: 'scheduled', backoffMs, route: { agent, reason } };
  }
  if (fallbackAgent === undefined || fallbackAgent === agent) {
    return nothing;
  }
  return {
    action: 'fallback',
    state: 'scheduled',
    backoffMs,
    route: { agent: fallbackAgent, reason: 'fallback agent' },
  };
}
