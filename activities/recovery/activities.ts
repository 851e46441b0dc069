import type { CompletionResult } from '../../contracts/runs/completion';
import type { RunRecovery } from '../../contracts/runs/recovery';
import { workflowOf } from '../../domain/admission/request';
import { classifyFailure, remainingSideEffects } from '../../domain/recovery/classify';
import { decideRecovery, type RecoveryDecision } from '../../domain/recovery/decide';
import { compact } from '../../platform/json/compact';
import { textDigest } from '../../platform/json/digest';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { cut } from '../../platform/text/cut';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import { cancelRecovery, type RecoveryCancelDependencies } from '../../stores/runs/cancel-recovery';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { Ending } from '../../workflows/agent-run/ending';
import { cancelRecoveryMessage } from '../../workflows/message-proofs';
import { claimed, temporalOperator } from '../../workflows/operator';
import type { CancelRecoveryInput } from '../../workflows/recovery/messages';
import { recoveryScheduled } from '../agent-run/completion/run-audit';

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
  /** Set when another agent continues. */
  agent?: string;
}

interface ScheduleDependencies {
  recoveries: RecoveryStore;
  attempts: Pick<AttemptStore, 'get'>;
  /** What each attempt was launched for. */
  requests: Pick<AdmissionRequestStore, 'get'>;
  audit: Pick<AuditStore, 'record'>;
  now: () => Date;
}

/** The end of an attempt, as far as recovery is concerned. */
interface Ended {
  record: AttemptRecord;
  completion: CompletionResult;
  ending: Ending;
}

/**
 * Decides what follows a failed run and writes it down before anything is launched (`run-recovery/v1`). The first
 * decision stands; a run that did not fail has none.
 */
export async function scheduleRecovery(
  deps: ScheduleDependencies,
  { record, completion, ending }: Ended,
  plan: RetryPlan,
): Promise<Retry | undefined> {
  const failureClass = classifyFailure(completion);
  if (failureClass === undefined) {
    return undefined;
  }
  const decision = decideRecovery({
    failureClass,
    retryNumber: record.retryNumber,
    maxRetries: plan.maxRetries,
    agent: record.agent,
    fallbackAgent: record.selection.fallbackAllowed ? (record.selection.fallbackAgent ?? undefined) : undefined,
    agentMayLive: (ending.by === 'lost' || ending.by === 'timeout') && ending.hostReclaimed === false,
    firstBackoffMs: plan.retryBackoffMs,
    workerLost: ending.by === 'lost',
    random: fractionOf(record._id),
  });
  const root = record.rootAttemptId === record._id ? record : await deps.attempts.get(record.rootAttemptId);
  const request = await deps.requests.get(record._id);
  const workflow = request && workflowOf(request);
  const at = deps.now();
  const stored = await deps.recoveries.schedule({
    schemaVersion: 'run-recovery/v1',
    taskId: record.taskId,
    attemptId: record._id,
    rootAttemptId: record.rootAttemptId,
    ...compact({ workflow }),
    sequence: record.retryNumber + 1,
    failureClass,
    ...decision,
    reason: reasonOf(completion),
    retryNumber: record.retryNumber,
    maxRetries: plan.maxRetries,
    notBefore: new Date(at.getTime() + decision.backoffMs).toISOString(),
    manifestDigests: {
      providerRuntime: record.providerRuntimeManifest?.digest ?? null,
      runLaunch: record.runLaunchManifest?.digest ?? null,
    },
    budget: {
      attempts: record.retryNumber + 1,
      maxAttempts: plan.maxRetries + 1,
      elapsedMs: at.getTime() - Date.parse((root ?? record).createdAt),
    },
    ...handoffOf(decision, completion),
    ...(decision.state === 'scheduled' ? { nextAttemptId: plan.nextAttemptId } : {}),
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
    revision: 1,
  });
  await deps.audit.record(recoveryScheduled(stored));
  if (stored.nextAttemptId === undefined) {
    return undefined;
  }
  return {
    attemptId: stored.nextAttemptId,
    retryNumber: record.retryNumber + 1,
    backoffMs: stored.backoffMs,
    ...(stored.action === 'fallback' && stored.route ? { agent: stored.route.agent } : {}),
  };
}

/** From 0 to 1, the same for the same text. */
const fractionOf = (text: string): number => parseInt(textDigest(text).slice(-8), 16) / 0xffff_ffff;

const reasonOf = ({ error, summary, downgrades }: CompletionResult): string =>
  cut(downgrades[0]?.message ?? error ?? summary, 2_000) || 'The run reported no reason for its failure.';

function handoffOf(decision: RecoveryDecision, completion: CompletionResult): Pick<RunRecovery, 'operatorHandoff'> {
  if (decision.state !== 'approval-required') {
    return {};
  }
  return {
    operatorHandoff: {
      reason: reasonOf(completion),
      sideEffects: remainingSideEffects(completion),
      nextSafeAction:
        'Inspect what the attempt left in the worktree; keep or undo it, then start the task again with parentAttemptId.',
    },
  };
}

export type RecoveryCancel = (attemptId: string, actor: string) => Promise<RunRecovery | null>;

export interface RecoveryActivityDependencies extends RecoveryCancelDependencies {
  proofs: ProofVerifier;
}

export function createRecoveryActivities(deps: RecoveryActivityDependencies) {
  return {
    /** Begins the launch of the attempt that follows; `false` when the recovery was cancelled before. */
    async beginRecovery({ attemptId }: { attemptId: string }): Promise<boolean> {
      const begun = await deps.recoveries.move(attemptId, {
        from: ['scheduled'],
        fields: { state: 'launching' },
        updatedAt: at(),
      });
      const state = begun?.state ?? (await deps.recoveries.get(attemptId))?.state;
      return state === 'launching' || state === 'launched';
    },

    /**
     * Cancels a recovery that has not launched yet, for the caller for whom the API has signed it; without a proof it is an
     * operator's, as the cancel of the workflow is.
     *
     * @returns the present recovery: `cancelled`, or why it could not be
     */
    async cancelRecovery({ proof, ...cancel }: CancelRecoveryInput): Promise<RunRecovery | null> {
      const { attemptId, actor } = cancel;
      if (proof === undefined) {
        return cancelRecovery(deps, attemptId, { actor: temporalOperator, claimedActor: claimed(actor) });
      }
      await deps.proofs.require(cancelRecoveryMessage(cancel), proof);
      return cancelRecovery(deps, attemptId, { actor });
    },
  };

  function at(): string {
    return deps.now().toISOString();
  }
}

export type RecoveryActivities = ReturnType<typeof createRecoveryActivities>;
