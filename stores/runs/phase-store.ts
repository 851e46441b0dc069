import type { Phase } from '../../contracts/common';
import type { PhaseEvidence, PhaseSnapshot, PhaseTransition } from '../../contracts/runs/phase';
import { compare } from '../../domain/phases/authority';
import { authorityOf } from '../../domain/phases/evidence';
import { type PhaseState, restoredFrom } from '../../domain/phases/transition';
import type { PagedBody, PageRequest } from '../../platform/lists/page';
import { slicePage } from '../../platform/lists/slice';
import type { Database } from '../port/collection';
import { insertOnce } from '../port/insert';

/** The authority of one attempt with its journal, in one document: a change and its entry are one write. */
export interface PhaseRecord extends PhaseState {
  _id: string;
  taskId: string;
  launchPhase: Phase;
  /** What it was launched with; absent in records of earlier versions. */
  launchEvidence?: PhaseEvidence;
  history: StoredTransition[];
}

/** An entry with what identifies the request that made it. */
export type StoredTransition = PhaseTransition & { requestDigest?: string };

/** The most changes of one attempt; a caller that makes more is in a loop. */
export const maxTransitions = 500;

/** Who ends an emergency whose time is over. */
const emergencyActor = 'system:phase-expiry';

/** What a change makes of the record that was read. */
export interface PhaseChange {
  evidence: PhaseEvidence;
  emergency: PhaseRecord['emergency'];
  entry: StoredTransition;
}

/** Phase snapshots of attempts (`phase-capability-evidence/v1` with its transitions). */
export async function createPhaseStore(db: Database) {
  const phases = await db.collection<PhaseRecord>({ name: 'run-phases' });

  return {
    get: (attemptId: string) => phases.get(attemptId),

    /** Writes what an attempt is launched with; a launch that is prepared again before it began writes it again. */
    async begin({ _id, ...record }: Omit<PhaseRecord, 'sequence' | 'history' | 'emergency'>): Promise<void> {
      const fields = { ...record, sequence: 0, history: [], emergency: null };
      if (await insertOnce(phases, { _id, ...fields })) {
        return;
      }
      // A preparation that comes late must not take back what was changed since.
      await phases.findOneAndUpdate({ _id, sequence: 0 }, { $set: fields });
    },

    /** The one way authority changes: from exactly what was read; `undefined` when it is something else by now. */
    change(read: PhaseRecord, { evidence, emergency, entry }: PhaseChange): Promise<PhaseRecord | undefined> {
      return phases.findOneAndUpdate(
        {
          _id: read._id,
          sequence: read.sequence,
          'evidence.digest': read.evidence.digest,
          manifestDigest: read.manifestDigest,
        },
        { $set: { evidence, emergency, sequence: entry.sequence, history: [...read.history, entry] } },
      );
    },

    /**
     * Ends an emergency: one named, or one whose time is over. The phase before it is restored, by the system as actor.
     *
     * @returns the changed record; `undefined` when there is none
     */
    async endEmergency(
      attemptId: string,
      { operationId, now }: { operationId?: string; now: string },
    ): Promise<PhaseRecord | undefined> {
      for (;;) {
        const read = await phases.get(attemptId);
        const emergency = read?.emergency;
        if (!read || !emergency) {
          return read;
        }
        const over = operationId === undefined ? emergency.expiresAt <= now : emergency.operationId === operationId;
        if (!over) {
          return read;
        }
        const changed = await this.change(read, ending(read, emergency, now));
        if (changed) {
          return changed;
        }
      }
    },
  };
}

export type PhaseStore = Awaited<ReturnType<typeof createPhaseStore>>;

function ending(
  read: PhaseRecord,
  { operationId, prior }: NonNullable<PhaseRecord['emergency']>,
  at: string,
): PhaseChange {
  const evidence = restoredFrom(prior, read.evidence);
  return {
    evidence,
    emergency: null,
    entry: {
      sequence: read.sequence + 1,
      operationId,
      kind: 'emergency-ended',
      comparison: compare(authorityOf(evidence), authorityOf(read.evidence)),
      fromEvidenceDigest: read.evidence.digest,
      evidence,
      reason: 'The emergency is over.',
      actor: emergencyActor,
      at,
    },
  };
}

const presentTransition = ({ requestDigest: _digest, ...transition }: StoredTransition): PhaseTransition => transition;

/** The record as callers see it, with the newest changes, the oldest of them first; the next page has older ones. */
export function presentPhase(record: PhaseRecord, part: PageRequest): PagedBody<PhaseSnapshot> {
  const positionOf = ({ sequence, operationId }: StoredTransition) => ({ key: sequence, id: operationId });
  const page = slicePage(record.history, part, { positionOf, direction: -1 });
  return page.answer({ ...snapshotOf(record), history: page.items.reverse().map(presentTransition) });
}

const snapshotOf = (record: PhaseRecord): Omit<PhaseSnapshot, 'history'> => ({
  schemaVersion: 'phase-snapshot/v1',
  taskId: record.taskId,
  attemptId: record._id,
  launchPhase: record.launchPhase,
  evidence: record.evidence,
  manifestDigest: record.manifestDigest,
  sequence: record.sequence,
  emergency: record.emergency && { operationId: record.emergency.operationId, expiresAt: record.emergency.expiresAt },
});
