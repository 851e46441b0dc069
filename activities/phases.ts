import { phaseNotice, type PhaseNotice } from '../runs/phases/notice';
import type { PhaseStore } from '../stores/phase-store';
import type { PhaseExpansionInput } from '../workflows/phase-expansion/messages';

export interface PhaseDependencies {
  phases: PhaseStore;
  /** Tells the run, if it goes on, what it may do now. */
  tell: (attemptId: string, notice: PhaseNotice) => Promise<void>;
  now: () => Date;
}

export function createPhaseActivities({ phases, now, tell }: PhaseDependencies) {
  return {
    /** Makes the change of an emergency on exactly what it was decided on. Repeated, it finds what it has made. */
    async beginExpansion(input: PhaseExpansionInput): Promise<{ applied: boolean }> {
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
      const ended = await phases.endEmergency(attemptId, { operationId, now: now().toISOString() });
      const entry = ended?.history.findLast((each) => each.operationId === operationId);
      if (entry?.kind === 'emergency-ended') await tell(attemptId, phaseNotice(entry));
    },
  };
}

export type PhaseActivities = ReturnType<typeof createPhaseActivities>;
