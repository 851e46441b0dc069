import type { ApprovalDecision, RunApproval } from '../../contracts/run-approval';
import { assertFound, conflict, validationError } from '../../platform/errors/app-error';
import { seal, type SealedBox } from '../../platform/crypto/sealed-box';
import type { AuthContext } from '../../platform/http/auth';
import { responseContext } from '../../runs/approvals/response';
import type { ApprovalsContext } from './context';
import { assertMayDecide } from './policy';

interface Decider {
  auth: AuthContext;
  claimedMode: string | undefined;
}

/** The approval as it is now. @throws AppError 404 */
export async function readApproval({ approvals, now }: ApprovalsContext, approvalId: string): Promise<RunApproval> {
  await approvals.expireDue(now().toISOString());
  const approval = await approvals.get(approvalId);
  assertFound(approval, 'run approval', approvalId);
  return approval;
}

/**
 * Records a decision on exactly what the caller has seen (specification 2, Launch rule 4).
 *
 * @throws AppError 403 when this caller may not decide it, 409 with the record as it is when that is something else
 */
export async function decideApproval(
  context: ApprovalsContext,
  approvalId: string,
  body: ApprovalDecision,
  { auth, claimedMode }: Decider,
): Promise<RunApproval> {
  const approval = await readApproval(context, approvalId);
  assertMayDecide(auth, approval, { claimedMode, now: context.now() });
  assertSame(approval, body);
  if (body.decision === 'approved') await assertPhaseStands(context, approval);
  const sealedResponse = await sealResponse(context, approval, body);
  const decided = await context.launcher.decide(approval, {
    decision: body.decision,
    expectedRevision: body.expectedRevision,
    expectedActionHash: body.expectedActionHash,
    actor: auth.actor,
    ...(body.note === undefined ? {} : { note: body.note }),
    ...(sealedResponse === undefined ? {} : { sealedResponse }),
  });
  const current = await readApproval(context, approvalId);
  if (decided === 'refused' || !decided.recorded) {
    assertSame(current, body);
    throw conflict('Somebody else decides this request just now. Read it again.', { current }, 'APPROVAL_NOT_PENDING');
  }
  return current;
}

function assertSame(current: RunApproval, { expectedRevision, expectedActionHash }: ApprovalDecision): void {
  if (current.actionHash !== expectedActionHash)
    throw conflict('The request is for another action than the one you saw.', { current }, 'APPROVAL_ACTION_CHANGED');
  if (current.status !== 'pending')
    throw conflict(`The request is ${current.status} already.`, { current }, 'APPROVAL_NOT_PENDING');
  if (current.revision !== expectedRevision)
    throw conflict('The request has changed since you read it.', { current, expectedRevision }, 'APPROVAL_STALE');
}

/** More authority is only approved for the state it was asked for in. */
async function assertPhaseStands({ phases }: ApprovalsContext, approval: RunApproval): Promise<void> {
  const { phase, attemptId } = approval;
  if (!phase) return;
  const state = await phases.get(attemptId);
  const stands =
    state?.sequence === phase.transitionSequence &&
    state.evidence.digest === phase.evidenceDigest &&
    state.manifestDigest === phase.manifestDigest;
  if (!stands) throw conflict('The run is in another phase by now.', { current: approval }, 'PHASE_STALE');
}

/** Encrypts the response for whoever waits: from here on nobody else can read it. */
async function sealResponse(
  { approvals }: ApprovalsContext,
  approval: RunApproval,
  { responseData }: ApprovalDecision,
): Promise<SealedBox | undefined> {
  if (responseData === undefined) return undefined;
  const key = await approvals.responseKey(approval.id);
  if (key === undefined) {
    throw validationError([{ path: 'responseData', message: 'nobody takes data with this decision' }]);
  }
  return seal(key, JSON.stringify(responseData), responseContext(approval));
}
