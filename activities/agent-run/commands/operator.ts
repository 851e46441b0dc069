import { ApplicationFailure } from '@temporalio/common';
import { claimDigest, redactClaim, type TerminalClaim } from '../../../domain/completion';
import { type MessageProofs, startProofMs } from '../../../platform/crypto/message-proof';
import type { MessageProof } from '../../../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../../../platform/temporal/proof-verifier';
import type { ClaimStore } from '../../../stores/runs/claim-store';
import type { AuditStore } from '../../../stores/system/audit-store';
import {
  type CompleteInput,
  type OperatorCompletion,
  type StopInput,
  unknownClaim,
} from '../../../workflows/agent-run/messages';
import { stopMessage, stoppedByMessage } from '../../../workflows/message-proofs';
import { claimed, temporalOperator } from '../../../workflows/operator';

export interface OperatorDependencies {
  claims: Pick<ClaimStore, 'put' | 'get'>;
  audit: Pick<AuditStore, 'record'>;
  proofs: ProofVerifier;
  messageProofs: Pick<MessageProofs, 'sign'>;
}

/** What operators enter by hand is stored with its kind, attributed to them alone. */
export function createOperatorActivities({ claims, audit, proofs, messageProofs }: OperatorDependencies) {
  return {
    /**
     * Who stops a run: the caller for whom the API has signed the message, or, without a signature, an operator, who is
     * recorded. What is verified now stays verified for the worker that records the end, however much later that is.
     */
    async attributeStop({
      acceptedAtMs,
      proof,
      ...stop
    }: StopInput & { acceptedAtMs: number }): Promise<{ actor: string; proof?: MessageProof }> {
      const { attemptId, actor } = stop;
      if (proof === undefined) {
        const details = { attemptId, claimedActor: claimed(actor) };
        await audit.record({ action: 'run.stop', actor: temporalOperator, resource: attemptId, details });
        return { actor: temporalOperator };
      }
      await proofs.require(stopMessage(stop), proof, acceptedAtMs);
      const once = `run.stop/${attemptId}/${actor}`;
      await audit.record({ action: 'run.stop', actor, resource: attemptId, once });
      return { actor, proof: messageProofs.sign(stoppedByMessage(attemptId, actor), startProofMs) };
    },

    /** Refuses an end without a claim: a run that waited for its report would never be over. */
    async requireClaim({ attemptId, claimDigest }: CompleteInput): Promise<void> {
      if (await claims.get(attemptId, claimDigest)) {
        return;
      }
      throw ApplicationFailure.nonRetryable(`The API has no report of this end of ${attemptId}.`, unknownClaim);
    },

    /** Stores an operator's claim of the end of a remote run; repeated, it is the same claim. Returns its digest. */
    async writeClaim({ attemptId, status, summary, actor }: OperatorCompletion): Promise<string> {
      const claim = redactClaim<TerminalClaim>({
        terminalSource: 'operator-interruption',
        status,
        summary: `${summary} (reported by ${temporalOperator}, as "${actor}")`,
        claims: {},
        harness: { ended: 'callback' },
      });
      const digest = claimDigest(claim);
      await claims.put(attemptId, digest, claim);
      const details = { status, claimedActor: claimed(actor) };
      await audit.record({ action: 'run.complete', actor: temporalOperator, resource: attemptId, details });
      return digest;
    },
  };
}

export type OperatorActivities = ReturnType<typeof createOperatorActivities>;
