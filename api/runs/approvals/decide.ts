import type { ApprovalDecision, RunApproval } from '../../../contracts/runs/approval';
import { responseContext } from '../../../domain/approvals/decision-options';
import { seal, type SealedBox } from '../../../platform/crypto/sealed-box';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import type { ApprovalsContext } from './context';
import { assertMayDecide } from './policy';

interface Decider {
  auth: AuthContext;
  claimedMode: string | undefined;
}

/** The present approval. @throws AppError 404 */
export async function readApproval({ approvals, now }: ApprovalsContext, approvalId: string): Promise<RunApproval> {
  await approvals.expireDue(now().toISOString());
  const approval = await approvals.get(approvalId);
  assertFound(approval, 'run approval', approvalId);
  return approval;
}

/**
 * Records a decision on exactly what the caller has seen (specification 2, Launch rule 4).
 *
 * @throws AppError 403 when this caller may not decide it, 409 with the present record when that is something else
 */
export async function decideApproval(
  context: ApprovalsContext,
  approvalId: string,
  { body, auth, claimedMode }: Decider & { body: ApprovalDecision },
): Promise<RunApproval> {
  const approval = await readApproval(context, approvalId);
  assertMayDecide(auth, approval, { claimedMode, now: context.now() });
  assertSame(approval, body);
  if (body.decision === 'approved') {
    await assertPhaseStands(context, approval);
  }
  const sealedResponse = await sealResponse(context, approval, body);
  const decided = await context.approvalLauncher.decide(approval, {
    decision: body.decision,
    expectedRevision: body.expectedRevision,
    expectedActionHash: body.expectedActionHash,
    actor: auth.actor,
    ...(body.note === undefined ? {} : { note: body.note }),
    ...compact({ sealedResponse }),
  });
  const current = await readApproval(context, approvalId);
  if (decided === 'refused' || !decided.recorded) {
    assertSame(current, body);
    throw conflict(
      'Another decision on this request is in progress. Read it again.',
      { current },
      'APPROVAL_NOT_PENDING',
    );
  }
  return current;
}

function assertSame(current: RunApproval, { expectedRevision, expectedActionHash }: ApprovalDecision): void {
  if (current.actionHash !== expectedActionHash) {
    throw conflict(
      'The request is for another action than the one displayed. Read it again.',
      { current },
      'APPROVAL_ACTION_CHANGED',
    );
  }
  if (current.status !== 'pending') {
    throw conflict(`The request is already ${current.status}.`, { current }, 'APPROVAL_NOT_PENDING');
  }
  if (current.revision !== expectedRevision) {
    throw conflict(
      'The request has changed since it was read. Read it again.',
      { current, expectedRevision },
      'APPROVAL_STALE',
    );
  }
}

/** More authority is only approved for the state in which it was requested. */
async function assertPhaseStands({ phases }: ApprovalsContext, approval: RunApproval): Promise<void> {
  const { phase, attemptId } = approval;
  if (!phase) {
    return;
  }
  const state = await phases.get(attemptId);
  const stands =
    state?.sequence === phase.transitionSequence &&
    state.evidence.digest === phase.evidenceDigest &&
    state.manifestDigest === phase.manifestDigest;
  if (!stands) {
    throw conflict('The run is now in another phase.', { current: approval }, 'PHASE_STALE');
  }
}

/** Encrypts the response for the run that waits: from here on no other process can read it. */
async function sealResponse(
  { approvals }: ApprovalsContext,
  approval: RunApproval,
  { responseData }: ApprovalDecision,
): Promise<SealedBox | undefined> {
  if (responseData === undefined) {
    return undefined;
  }
  const key = await approvals.responseKey(approval.id);
  if (key === undefined) {
    throw validationError([{ path: 'responseData', message: 'this decision takes no data' }]);
  }
  return seal(key, JSON.stringify(responseData), responseContext(approval));
}
