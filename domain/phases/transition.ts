import type { ApprovalPhase } from '../../contracts/runs/approval';
import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { PhaseBlocker, PhaseComparison, PhaseEvidence, PhaseTarget } from '../../contracts/runs/phase';
import { withDigest } from '../../platform/json/digest';
import { compare, dimensions, everything, meet, within, withinScoped } from './authority';
import { authorityOf, compilePhase, type Sources } from './evidence';

/** An emergency that lasts: what it ends with is written down when it begins. */
export interface Emergency {
  operationId: string;
  expiresAt: string;
  prior: PhaseEvidence;
}

/** What a transition is decided on. */
export interface PhaseState {
  evidence: PhaseEvidence;
  manifestDigest: string;
  sequence: number;
  /** What limits every phase of the run, besides its parent. */
  sources: Sources;
  emergency: Emergency | null;
}

export interface Planned {
  evidence: PhaseEvidence;
  comparison: PhaseComparison;
  blockers: PhaseBlocker[];
}

/** What a transition to `target` would be. */
export function planTransition(state: PhaseState, target: PhaseTarget, runtime: ProviderRuntimeManifest): Planned {
  const { evidence, blockers } = compilePhase(target, state.sources, runtime);
  return { evidence, blockers, comparison: compare(authorityOf(evidence), authorityOf(state.evidence)) };
}

/** What a target allows beside the current evidence, for its approver. */
export function expansionOf(state: PhaseState, target: PhaseEvidence): ApprovalPhase {
  const from = authorityOf(state.evidence);
  const to = authorityOf(target);
  const wider = dimensions.filter((dimension) => !withinScoped(to[dimension], from[dimension]));
  return {
    evidenceDigest: state.evidence.digest,
    manifestDigest: state.manifestDigest,
    identity: target.digest,
    transitionSequence: state.sequence,
    requirements: wider.map((dimension) => ({
      dimension,
      requestedScopes: to[dimension].scopes.filter(
        (scope) =>
          scope === everything || !from[dimension].scopes.includes(scope) || from[dimension].approval.includes(scope),
      ),
    })),
  };
}

/** The authority when an emergency ends: what was before it, less what was relinquished meanwhile. */
export function restoredFrom(prior: PhaseEvidence, current: PhaseEvidence): PhaseEvidence {
  const before = authorityOf(prior);
  const left = meet(before, authorityOf(current));
  if (within(before, left)) {
    return prior;
  }
  const { digest: _digest, ...document } = prior;
  return withDigest({
    ...document,
    dimensions: Object.fromEntries(
      dimensions.map((dimension) => [dimension, { ...prior.dimensions[dimension], ...left[dimension] }]),
    ) as PhaseEvidence['dimensions'],
  });
}

/** What a run may do for good: descendants inherit this and no emergency. */
export const lastingEvidence = ({ evidence, emergency }: Pick<PhaseState, 'evidence' | 'emergency'>): PhaseEvidence =>
  emergency ? restoredFrom(emergency.prior, evidence) : evidence;
