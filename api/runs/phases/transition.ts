import type { RunApproval } from '../../../contracts/runs/approval';
import {
  longestEmergencyMs,
  type PhaseTransition,
  type PhaseTransitionRequest,
  type PhaseTransitionResponse,
} from '../../../contracts/runs/phase';
import { phaseRefusal } from '../../../domain/phases/launch';
import { phaseNotice } from '../../../domain/phases/notice';
import { expansionOf, type Planned, planTransition } from '../../../domain/phases/transition';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { maxTransitions, type PhaseChange, type PhaseRecord, presentPhase } from '../../../stores/runs/phase-store';
import { refusalError } from '../../refusal-error';
import { verifiedAttempt } from '../attempts/attempt';
import type { PhasesContext } from './context';
import { currentPhase } from './read';
import { traceTransition } from './trace';

interface Transition {
  attempt: AttemptRecord;
  state: PhaseRecord;
  planned: Planned;
  body: PhaseTransitionRequest;
  actor: string;
  requestDigest: string;
}

/** How much of the journal a response shows. */
const shown = 50;

/**
 * Changes what a run may do, on exactly the state the caller has seen (specification 2, States of a phase). The same or
 * less is applied at once; more needs an approval, or an emergency with an end.
 *
 * @throws AppError 409 with the blockers or the current snapshot
 */
export async function transitionPhase(
  context: PhasesContext,
  taskId: string,
  { body, actor }: { body: PhaseTransitionRequest; actor: string },
): Promise<PhaseTransitionResponse> {
  const attempt = await verifiedAttempt(context, { taskId, attemptId: body.attemptId });
  const state = await currentPhase(context, body.attemptId);
  const { targetEvidence, emergencyOverride = null, expectedSequence } = body;
  const requestDigest = digestOf({ targetEvidence, emergencyOverride, expectedSequence });
  const done = repeated(state, body, requestDigest);
  if (done) {
    return applied(context, state, done);
  }

  const { providerRuntimeManifest: runtime } = attempt;
  if (attempt.completion || !runtime || !['prepared', 'dispatched', 'running'].includes(attempt.state)) {
    throw conflict(
      'Only a running attempt can change its phase.',
      { attemptId: attempt._id, state: attempt.state },
      'RUN_ENDED',
    );
  }
  assertExpected(state, body);
  const planned = planTransition(state, targetEvidence, runtime);
  const transition = { attempt, state, planned, body, actor, requestDigest };
  if (planned.blockers.length > 0) {
    await traceTransition(context, transition, 'blocked');
    throw refusalError(phaseRefusal(targetEvidence.phase, planned.blockers));
  }
  if (planned.comparison !== 'wider') {
    return apply(context, transition, {});
  }
  if (state.emergency) {
    throw conflict(
      'An emergency phase is active: wait for its end before a wider phase.',
      stale(state),
      'PHASE_EMERGENCY_ACTIVE',
    );
  }
  if (emergencyOverride) {
    return begin(context, transition, emergencyOverride);
  }
  return approved(context, transition);
}

/** The entry that this very request has made before. */
function repeated(
  { history }: PhaseRecord,
  { operationId, reason }: PhaseTransitionRequest,
  requestDigest: string,
): PhaseTransition | undefined {
  const entry = history.find((stored) => stored.operationId === operationId && stored.requestDigest !== undefined);
  if (!entry) {
    return undefined;
  }
  const { requestDigest: storedDigest, ...transition } = entry;
  if (storedDigest === requestDigest && transition.reason === reason) {
    return transition;
  }
  throw conflict('The operationId belongs to another change; use a new one.', { transition }, 'PHASE_OPERATION_REUSED');
}

/** The snapshot with its newest changes. */
const shownPhase = (record: PhaseRecord) => presentPhase(record, { limit: shown }).body;

const stale = (state: PhaseRecord) => ({ current: shownPhase(state) });

function assertExpected(state: PhaseRecord, body: PhaseTransitionRequest): void {
  const from = body.fromEvidence?.digest ?? body.expectedPhaseEvidenceDigest;
  const same =
    body.expectedSequence === state.sequence &&
    body.expectedPhaseEvidenceDigest === state.evidence.digest &&
    from === state.evidence.digest &&
    body.expectedManifestDigest === state.manifestDigest;
  if (!same) {
    throw conflict('The phase has changed since it was read. Read it again.', stale(state), 'PHASE_STALE');
  }
  if (state.history.length >= maxTransitions) {
    throw conflict(`A run can change its phase at most ${maxTransitions} times.`, stale(state), 'PHASE_JOURNAL_FULL');
  }
}

function changeOf(
  context: PhasesContext,
  { state, planned, body, actor, requestDigest }: Transition,
  more: Partial<PhaseChange['entry']>,
): PhaseChange {
  return {
    evidence: planned.evidence,
    // What is given up in an emergency stays given up: its end restores what both allow.
    emergency: state.emergency,
    entry: {
      sequence: state.sequence + 1,
      operationId: body.operationId,
      kind: 'transition',
      comparison: planned.comparison,
      fromEvidenceDigest: state.evidence.digest,
      evidence: planned.evidence,
      reason: body.reason,
      actor,
      at: context.now().toISOString(),
      requestDigest,
      ...more,
    },
  };
}

async function apply(
  context: PhasesContext,
  transition: Transition,
  more: Partial<PhaseChange['entry']>,
): Promise<PhaseTransitionResponse> {
  const { state, body, requestDigest } = transition;
  const changed = await context.phases.change(state, changeOf(context, transition, more));
  const current = changed ?? (await currentPhase(context, state._id));
  // Of two at the same time one was first; it may have been this same request.
  const made = repeated(current, body, requestDigest);
  if (!made) {
    throw conflict('The phase has changed since it was read. Read it again.', stale(current), 'PHASE_STALE');
  }
  await traceTransition(context, transition, 'allowed');
  return applied(context, current, made);
}

/** The run is signalled by every response, so that a repeated request makes good what was missed. */
async function applied(
  { phaseLauncher }: PhasesContext,
  record: PhaseRecord,
  transition: PhaseTransition,
): Promise<PhaseTransitionResponse> {
  await phaseLauncher.signalPhase(record._id, phaseNotice(transition));
  return {
    status: 'applied',
    comparison: transition.comparison,
    transition,
    snapshot: shownPhase(record),
  };
}

/** More authority until a moment within a day; its end is arranged before it begins. */
async function begin(
  context: PhasesContext,
  transition: Transition,
  { justification, expiresAt: stated }: NonNullable<PhaseTransitionRequest['emergencyOverride']>,
): Promise<PhaseTransitionResponse> {
  const { state, body, requestDigest, attempt } = transition;
  const expiresAt = new Date(stated).toISOString();
  const lastsMs = Date.parse(expiresAt) - context.now().getTime();
  if (lastsMs <= 0 || lastsMs > longestEmergencyMs) {
    throw validationError([{ path: 'emergencyOverride.expiresAt', message: 'must be within the next 24 hours' }]);
  }
  const { operationId } = body;
  const change = changeOf(context, transition, { kind: 'emergency', justification, expiresAt });
  await context.phaseLauncher.expand(
    {
      attemptId: state._id,
      operationId,
      expiresAt,
      expected: {
        sequence: state.sequence,
        evidenceDigest: state.evidence.digest,
        manifestDigest: state.manifestDigest,
      },
      change: { ...change, emergency: { operationId, expiresAt, prior: state.evidence } },
    },
    attempt.taskId,
  );
  const current = await currentPhase(context, state._id);
  const made = repeated(current, body, requestDigest);
  if (!made) {
    throw conflict('The phase has changed since it was read. Read it again.', stale(current), 'PHASE_STALE');
  }
  await traceTransition(context, transition, 'warned');
  return applied(context, current, made);
}

/** Requests an approval of exactly this change, or makes it when that is granted. */
async function approved(context: PhasesContext, transition: Transition): Promise<PhaseTransitionResponse> {
  const { body, planned } = transition;
  const approval =
    body.approvalId === undefined
      ? await requestApproval(context, transition)
      : await statedApproval(context, transition, body.approvalId);
  if (body.approvalId !== undefined && approval.status === 'approved') {
    return apply(context, transition, { approvalId: approval.id });
  }
  if (approval.status === 'pending' || approval.status === 'approved') {
    await traceTransition(context, transition, 'approval-required');
    return {
      status: 'approval-required',
      comparison: 'wider',
      approvalId: approval.id,
      approval,
      targetEvidence: planned.evidence,
    };
  }
  throw conflict(
    `The approval is ${approval.status}. Request the change again with a new operationId.`,
    { approvalId: approval.id, current: approval },
    'APPROVAL_NOT_GIVEN',
  );
}

const requestIdOf = ({ body }: Transition): string => `phase:${body.operationId}`;

function requestApproval(context: PhasesContext, transition: Transition): Promise<RunApproval> {
  const { attempt, state, planned, body, actor } = transition;
  const phase = expansionOf(state, planned.evidence);
  return context.approvalRequests.request({
    workspaceId: context.workspaceId,
    taskId: attempt.taskId,
    attemptId: attempt._id,
    provider: attempt.provider,
    agentId: attempt.agent,
    actionClass: 'workflow',
    action: `Allow the run more, in the phase ${planned.evidence.phase}: ${phase.requirements
      .map(({ dimension, requestedScopes }) => `${dimension} (${requestedScopes.join(', ')})`)
      .join('; ')}`,
    details: { requestedBy: actor, reason: body.reason },
    resourceScope: phase.requirements.map(({ dimension }) => dimension),
    providerRequestId: requestIdOf(transition),
    riskClass: 'high',
    policyReason: 'A change to a wider phase requires an approval.',
    evidenceRevision: state.sequence,
    phase,
  });
}

/** The approval a caller names, if it is for exactly this change of exactly this state. */
async function statedApproval(
  context: PhasesContext,
  { state, planned, attempt, body }: Transition,
  approvalId: string,
): Promise<RunApproval> {
  await context.approvals.expireDue(context.now().toISOString());
  const approval = await context.approvals.get(approvalId);
  assertFound(approval, 'run approval', approvalId);
  const expectedDigest = digestOf(expansionOf(state, planned.evidence));
  const own = approval.attemptId === attempt._id && approval.providerRequestId === `phase:${body.operationId}`;
  if (!own || approval.phase === undefined || digestOf(approval.phase) !== expectedDigest) {
    throw conflict('The approval is for another change.', { approvalId, current: approval }, 'APPROVAL_ACTION_CHANGED');
  }
  return approval;
}
