import { phaseNotice, type PhaseNotice } from '../runs/phases/notice';
import type { ProofVerifier } from '../platform/temporal/proof-verifier';
import type { AuditStore } from '../stores/audit-store';
import type { PhaseStore } from '../stores/phase-store';
import { expansionMessage } from '../workflows/message-proofs';
import { temporalOperator } from '../workflows/operator';
import type { PhaseExpansionInput } from '../workflows/phase-expansion/messages';

/** How much sooner than planned a timer may fire, in milliseconds: clocks differ. */
const earlyMs = 5_000;

export interface PhaseDependencies {
  phases: PhaseStore;
  /** Tells the run, if it goes on, what it may do now. */
  tell: (attemptId: string, notice: PhaseNotice) => Promise<void>;
  proofs: ProofVerifier;
  audit: Pick<AuditStore, 'record'>;
  now: () => Date;
}

export function createPhaseActivities({ phases, proofs, audit, now, tell }: PhaseDependencies) {
  return {
    /** Makes the change of an emergency on exactly what it was decided on. Repeated, it finds what it has made. */
    async beginExpansion({
      acceptedAtMs,
      proof,
      ...input
    }: PhaseExpansionInput & { acceptedAtMs?: number }): Promise<{ applied: boolean }> {
      await proofs.require(expansionMessage(input), proof, acceptedAtMs);
      const { attemptId, operationId, expected, change } = input;
      const record = await phases.get(attemptId);
      if (!record) return { applied: false };
      if (record.history.some((entry) => entry.operationId === operationId && entry.kind === 'emergency'))
        return { applied: true };
      const same =
        record.sequence === expected.sequence &&
        record.evidence.digest === expected.evidenceDigest &&
        record.manifestDigest === expected.manifestDigest;
      return { applied: same && (await phases.change(record, change)) !== undefined };
    },

    /** Puts back what was before the emergency, unless that has been done. */
    async endExpansion({ attemptId, operationId }: { attemptId: string; operationId: string }): Promise<void> {
      const emergency = (await phases.get(attemptId))?.emergency;
      // Before its time it is ended by an operator, who has cancelled its workflow.
      if (emergency?.operationId === operationId && Date.parse(emergency.expiresAt) - now().getTime() > earlyMs) {
        const details = { operationId };
        await audit.record({ action: 'phase-emergency.end', actor: temporalOperator, resource: attemptId, details });
      }
      const ended = await phases.endEmergency(attemptId, { operationId, now: now().toISOString() });
      const entry = ended?.history.findLast((each) => each.operationId === operationId);
      if (entry?.kind === 'emergency-ended') await tell(attemptId, phaseNotice(entry));
    },
  };
}

export type PhaseActivities = ReturnType<typeof createPhaseActivities>;
