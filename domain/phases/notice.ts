import type { PhaseEvidence, PhaseTransition } from '../../contracts/runs/phase';
import { cut } from '../../platform/text/cut';
import { dimensions } from './authority';

/** The notice to a run and its agent of a change of its authority. */
export interface PhaseNotice {
  phase: string;
  /** The change it is about; one that is not newer than the last notice is ignored. */
  sequence: number;
  message: string;
}

/** The most characters of a message to an agent. */
const longest = 4_000;

/** The text of the change, with everything the run may do from here on. */
export function phaseNotice({
  evidence,
  sequence,
  comparison,
  reason,
}: Pick<PhaseTransition, 'evidence' | 'sequence' | 'comparison' | 'reason'>): PhaseNotice {
  const much = { wider: 'more', narrower: 'less', same: 'as much' }[comparison];
  const lines = dimensions.map((dimension) => `- ${dimension}: ${scopesOf(evidence, dimension)}`);
  const message = [`This run is in the phase ${evidence.phase} now and may do ${much}: ${reason}`, ...lines].join('\n');
  return { phase: evidence.phase, sequence, message: cut(message, longest) };
}

function scopesOf(evidence: PhaseEvidence, dimension: (typeof dimensions)[number]): string {
  const { scopes, approval } = evidence.dimensions[dimension];
  const allowed = scopes.length === 0 ? 'nothing' : scopes.join(', ');
  return approval.length === 0 ? allowed : `${allowed} (after approval: ${approval.join(', ')})`;
}
