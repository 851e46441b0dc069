import { type PhaseNotice, phaseNotice } from '../../domain/phases/notice';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import type { PhaseChange, PhaseStore } from '../../stores/runs/phase-store';
import type { AuditInput, AuditStore } from '../../stores/system/audit-store';
import { expansionMessage } from '../../workflows/message-proofs';
import { temporalOperator } from '../../workflows/operator';
import type { TemporaryAuthorityInput } from '../../workflows/temporary-authority/messages';

/** How much sooner than planned a timer may fire, in milliseconds: clocks differ. */
const earlyMs = 5_000;

export interface PhaseDependencies {
  phases: PhaseStore;
  /** Signals the run, if it is active, its present phase. */
  signalPhase: (attemptId: string, notice: PhaseNotice) => Promise<void>;
  proofs: ProofVerifier;
  audit: Pick<AuditStore, 'record'>;
  now: () => Date;
}

export function createPhaseActivities({ phases, proofs, audit, now, signalPhase }: PhaseDependencies) {
  return {
    /** Makes the change of an emergency on exactly the state it was decided on. Repeated, it detects its own change. */
    async beginExpansion({
      acceptedAtMs,
      proof,
      ...input
    }: TemporaryAuthorityInput & { acceptedAtMs?: number }): Promise<{ applied: boolean }> {
      await proofs.require(expansionMessage(input), proof, acceptedAtMs);
      const { attemptId, operationId, expected, change } = input;
      const record = await phases.get(attemptId);
      if (!record) {
        return { applied: false };
      }
      const begun = record.history.find((entry) => entry.operationId === operationId && entry.kind === 'emergency');
      if (begun) {
        await audit.record(emergencyBegun(attemptId, begun));
        return { applied: true };
      }
      const same =
        record.sequence === expected.sequence &&
        record.evidence.digest === expected.evidenceDigest &&
        record.manifestDigest === expected.manifestDigest;
      const applied = same && (await phases.change(record, change)) !== undefined;
      if (applied) {
        await audit.record(emergencyBegun(attemptId, change.entry));
      }
      return { applied };
    },

    /** Restores the phase from before the emergency, unless that has been done. */
    async endExpansion({ attemptId, operationId }: { attemptId: string; operationId: string }): Promise<void> {
      const emergency = (await phases.get(attemptId))?.emergency;
      const ending = { action: 'phase-emergency.end', resource: attemptId, details: { operationId } };
      const once = `phase-emergency.end/${attemptId}/${operationId}`;
      // Before its time it is ended by an operator, who has cancelled its workflow.
      if (emergency?.operationId === operationId && Date.parse(emergency.expiresAt) - now().getTime() > earlyMs) {
        await audit.record({ ...ending, actor: temporalOperator, once });
      }
      const ended = await phases.endEmergency(attemptId, { operationId, now: now().toISOString() });
      const entry = ended?.history.findLast((each) => each.operationId === operationId);
      if (entry?.kind !== 'emergency-ended') {
        return;
      }
      await audit.record({ ...ending, actor: entry.actor, once });
      await signalPhase(attemptId, phaseNotice(entry));
    },
  };
}

/** More authority than its launch gave a run, for a while, and why. */
const emergencyBegun = (
  attemptId: string,
  { operationId, actor, reason, justification, expiresAt, evidence }: PhaseChange['entry'],
): AuditInput => ({
  action: 'phase-emergency.begin',
  actor,
  resource: attemptId,
  details: {
    operationId,
    phase: evidence.phase,
    reason,
    justification: justification ?? null,
    expiresAt: expiresAt ?? null,
  },
  once: `phase-emergency.begin/${attemptId}/${operationId}`,
});

export type PhaseActivities = ReturnType<typeof createPhaseActivities>;
