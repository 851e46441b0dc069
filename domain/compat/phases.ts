import type { z } from 'zod';
import {
  compatPhaseAnswer,
  type compatPhaseEvidence,
  compatPhaseSnapshot,
  type compatPhaseTransition,
} from '../../contracts/compat';
import type {
  PhaseEvidence,
  PhaseSnapshot,
  PhaseTransition,
  PhaseTransitionResponse,
} from '../../contracts/runs/phase';
import type { CompatRow } from './presenter';

/** Evidence with one map a question: which scopes, and how they are enforced. */
export function presentEvidence(evidence: PhaseEvidence): z.infer<typeof compatPhaseEvidence> {
  const { mode, phase, dimensions } = evidence;
  const entries = Object.entries(dimensions);
  return {
    ...evidence,
    identity: { mode, phase: mode === 'legacy' ? 'legacy' : phase },
    effectiveAuthority: Object.fromEntries(entries.map(([dimension, { scopes }]) => [dimension, scopes])),
    enforcement: Object.fromEntries(entries.map(([dimension, { enforcement }]) => [dimension, enforcement])),
    approvalRequiredDimensions: entries
      .filter(([, { approval }]) => approval.length > 0)
      .map(([dimension]) => dimension),
  };
}

function decisionOf({ kind, approvalId }: PhaseTransition): z.infer<typeof compatPhaseTransition>['policyDecision'] {
  if (kind === 'transition') {
    return approvalId === undefined ? 'allow' : 'approved-expansion';
  }
  return kind === 'emergency' ? 'emergency-override' : 'override-expired';
}

export function presentTransition(transition: PhaseTransition): z.infer<typeof compatPhaseTransition> {
  const { evidence, justification, expiresAt } = transition;
  return {
    ...transition,
    evidence: presentEvidence(evidence),
    effectiveEvidence: presentEvidence(evidence),
    policyDecision: decisionOf(transition),
    createdAt: transition.at,
    ...(justification !== undefined && expiresAt !== undefined
      ? { emergencyOverride: { permission: 'admin:manage', justification, expiresAt } }
      : {}),
  };
}

const presentSnapshot = (snapshot: PhaseSnapshot) => ({
  ...snapshot,
  evidence: presentEvidence(snapshot.evidence),
  effectiveEvidence: presentEvidence(snapshot.evidence),
  transitionSequence: snapshot.sequence,
  history: snapshot.history.map(presentTransition),
});

function presentAnswer(answer: PhaseTransitionResponse) {
  if (answer.status === 'approval-required') {
    return { ...answer, current: null, targetEvidenceDigest: answer.targetEvidence.digest };
  }
  const current = presentTransition(answer.transition);
  return {
    ...answer,
    transition: current,
    current,
    record: current,
    snapshot: presentSnapshot(answer.snapshot),
    targetEvidenceDigest: answer.transition.evidence.digest,
  };
}

/** Phases of runs. */
export const phaseRows: readonly CompatRow[] = [
  { operations: ['getRunPhase'], present: presentSnapshot, response: compatPhaseSnapshot },
  { operations: ['transitionRunPhase'], present: presentAnswer, response: compatPhaseAnswer },
];
