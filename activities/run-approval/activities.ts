import { ApplicationFailure } from '@temporalio/common';
import type { ApprovalStatus, RunApproval } from '../../contracts/runs/approval';
import type { RunEventInput } from '../../contracts/runs/event';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { ApprovalOutcome, ApprovalStore } from '../../stores/runs/approval-store';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';
import type { AuditStore } from '../../stores/system/audit-store';
import type { FeedStore } from '../../stores/system/feed-store';
import { decideMessage } from '../../workflows/message-proofs';
import { temporalOperator } from '../../workflows/operator';
import type { Decided, DecideInput } from '../../workflows/run-approval/messages';
import { sourceOf } from '../shared/event-source';

export interface ApprovalDependencies {
  approvals: ApprovalStore;
  attempts: Pick<AttemptStore, 'get'>;
  events: Pick<RunEventStore, 'appendUnlessEnded'>;
  feed: Pick<FeedStore, 'append'>;
  now(): Date;
}

export interface ApprovalActivityDependencies extends ApprovalDependencies {
  proofs: ProofVerifier;
  audit: Pick<AuditStore, 'record'>;
}

/** A decision, and when the workflow accepted it, in milliseconds. */
export interface DecisionInput {
  approvalId: string;
  decision: DecideInput;
  acceptedAtMs?: number;
}

/** How a request ends without a decision, by who ends it. */
const endings = new Map<string, ApprovalOutcome['decision']>([
  ['system:expiry', 'expired'],
  ['system:run-end', 'cancelled'],
  [temporalOperator, 'cancelled'],
]);

export function createApprovalActivities(deps: ApprovalActivityDependencies) {
  return {
    /** Publishes a request once; repeated, it publishes nothing more. Returns the present status of its record. */
    async announceApproval({ approvalId }: { approvalId: string }): Promise<{ status: ApprovalStatus }> {
      const approval = await mustGet(approvalId);
      await publish(deps, approval);
      return { status: approval.status };
    },

    /**
     * Records a decision that the API has signed, if it is about exactly what is pending and in time, then publishes it.
     * Repeated after it was recorded, it publishes nothing twice.
     */
    async decideApproval({ approvalId, decision, acceptedAtMs }: DecisionInput): Promise<Decided> {
      await deps.proofs.require(decideMessage(approvalId, decision), decision.proof, acceptedAtMs);
      const at = deps.now().toISOString();
      const { expectedRevision: revision, expectedActionHash: actionHash, proof: _proof, ...outcome } = decision;
      const changed = await deps.approvals.decide(approvalId, { revision, actionHash }, { outcome, at });
      if (!changed) {
        await deps.approvals.expireDue(at);
      }
      const approval = changed ?? (await mustGet(approvalId));
      if (approval.status !== 'pending') {
        await publish(deps, approval);
      }
      // An earlier try of this activity may have recorded it and died before it could return.
      return { recorded: changed !== undefined || isOf(approval, decision), status: approval.status };
    },

    /**
     * Ends a request without a decision, then publishes that. A decision that was first stands. The claimed reason of the end
     * is checked against the stores: everything else is an operator's doing, who cancelled it.
     */
    async closeApproval({
      approvalId,
      outcome,
    }: {
      approvalId: string;
      outcome: ApprovalOutcome;
    }): Promise<{ status: ApprovalStatus }> {
      const before = await mustGet(approvalId);
      const actor = await enderOf(before, outcome);
      const approval = await closeApproval(deps, approvalId, { decision: outcome.decision, actor });
      if (before.status === 'pending' && actor === temporalOperator) {
        await deps.audit.record({ action: 'run-approval.withdraw', actor, resource: approvalId });
      }
      return { status: approval.status };
    },
  };

  /** @throws ApplicationFailure for an ending that is a decision, or that is not due yet */
  async function enderOf(approval: RunApproval, { decision, actor }: ApprovalOutcome): Promise<string> {
    const { id: approvalId, attemptId, status, expiresAt } = approval;
    if (endings.get(actor) !== decision) {
      throw ApplicationFailure.nonRetryable(`Only the API decides ${approvalId}.`, 'APPROVAL_ENDING_UNKNOWN');
    }
    const leftMs = Date.parse(expiresAt) - deps.now().getTime();
    if (decision === 'expired' && status === 'pending' && leftMs > 0) {
      throw ApplicationFailure.create({
        type: 'APPROVAL_NOT_DUE',
        message: `${approvalId} has not expired yet.`,
        nextRetryDelay: Math.min(leftMs, 15_000),
      });
    }
    if (actor !== 'system:run-end') {
      return actor;
    }
    const attempt = await deps.attempts.get(attemptId);
    const isOver = attempt?.completion !== undefined || attempt?.state === 'ended' || attempt?.state === 'refused';
    return isOver || attempt === undefined ? actor : temporalOperator;
  }

  async function mustGet(approvalId: string): Promise<RunApproval> {
    const approval = await deps.approvals.get(approvalId);
    if (!approval) {
      throw ApplicationFailure.nonRetryable(`No approval ${approvalId}.`, 'APPROVAL_MISSING', { approvalId });
    }
    return approval;
  }
}

export type ApprovalActivities = ReturnType<typeof createApprovalActivities>;

/** Ends a pending request and publishes how it ended. @throws ApplicationFailure when there is no such request */
export async function closeApproval(
  deps: ApprovalDependencies,
  approvalId: string,
  outcome: ApprovalOutcome,
): Promise<RunApproval> {
  const approval = await deps.approvals.close(approvalId, outcome, deps.now().toISOString());
  if (!approval) {
    throw ApplicationFailure.nonRetryable(`No approval ${approvalId}.`, 'APPROVAL_MISSING');
  }
  await publish(deps, approval);
  return approval;
}

const isOf = ({ status, resolution, revision }: RunApproval, decision: DecideInput): boolean =>
  status === decision.decision && resolution?.actor === decision.actor && revision === decision.expectedRevision + 1;

/**
 * Appends the request and, once there is one, its resolution to the run's own log, each once, and notifies watchers that the
 * record has changed. The end of a run may resolve a request before its workflow has announced it.
 */
async function publish(deps: ApprovalDependencies, approval: RunApproval): Promise<void> {
  const attempt = await deps.attempts.get(approval.attemptId);
  // A request that is cancelled with its run may be closed after the run's end was published.
  if (attempt) {
    const events = approval.status === 'pending' ? [requested(approval)] : [requested(approval), resolved(approval)];
    await deps.events.appendUnlessEnded(sourceOf(attempt), events);
  }
  const { id: approvalId, taskId, attemptId } = approval;
  await deps.feed.append({ type: 'run-approval.changed', approvalId, taskId, attemptId });
}

const about = ({ threadId, turnId, itemId }: RunApproval): Pick<RunEventInput, 'sessionId' | 'turnId' | 'itemId'> => ({
  ...(threadId === null ? {} : { sessionId: threadId }),
  ...(turnId === null ? {} : { turnId }),
  ...(itemId === null ? {} : { itemId }),
});

const requested = (approval: RunApproval): RunEventInput => ({
  kind: 'approval.requested',
  ...about(approval),
  payload: {
    approvalId: approval.id,
    requestId: approval.providerRequestId,
    requestKind: approval.requestKind,
    actionClass: approval.actionClass,
    action: approval.action,
    actionHash: approval.actionHash,
    riskClass: approval.riskClass,
    expiresAt: approval.expiresAt,
  },
  receivedAt: approval.createdAt,
  dedupeKey: `approval-requested/${approval.id}`,
});

const resolved = (approval: RunApproval): RunEventInput => ({
  kind: 'approval.resolved',
  ...about(approval),
  payload: {
    approvalId: approval.id,
    requestId: approval.providerRequestId,
    status: approval.status,
    actor: approval.resolution?.actor,
    ...compact({ note: approval.resolution?.note }),
  },
  receivedAt: approval.updatedAt,
  dedupeKey: `approval-resolved/${approval.id}`,
});
