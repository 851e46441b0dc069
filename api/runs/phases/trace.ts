import type { TraceInput } from '../../../contracts/governance/trace';
import type { PhaseTransitionRequest } from '../../../contracts/runs/phase';
import type { Planned } from '../../../domain/phases/transition';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { PhaseRecord } from '../../../stores/runs/phase-store';
import type { PhasesContext } from './context';

interface Traced {
  attempt: AttemptRecord;
  state: PhaseRecord;
  planned: Planned;
  body: PhaseTransitionRequest;
  actor: string;
}

/** Records why a change of phase came out as it did. */
export async function traceTransition(
  { traces }: PhasesContext,
  { attempt, state, planned, body, actor }: Traced,
  outcome: TraceInput['outcome'],
): Promise<void> {
  const { phase } = body.targetEvidence;
  await traces.record({
    kind: 'policy',
    outcome,
    title: `Phase ${phase}: ${outcome}`,
    summary: `${actor} asked for the phase ${phase}, which allows the run ${planned.comparison === 'wider' ? 'more' : planned.comparison === 'same' ? 'the same' : 'less'}.`,
    subject: { agentId: attempt.agent, taskId: attempt.taskId, actionType: 'phase-transition' },
    evaluatedRules: planned.blockers.map(({ code, dimension, message }) => ({
      id: code,
      label: dimension,
      type: 'phase',
      status: 'matched',
      outcome: 'blocked',
      message,
    })),
    raw: {
      attemptId: attempt._id,
      operationId: body.operationId,
      sequence: state.sequence,
      from: state.evidence.digest,
      to: planned.evidence.digest,
    },
    dedupeKey: `phase/${attempt._id}/${body.operationId}/${state.sequence}/${outcome}`,
  });
}
