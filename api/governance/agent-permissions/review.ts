import type { z } from 'zod';
import type { PermissionApproval, permissionReviewed } from '../../../contracts/governance/agent-permission';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { ApiContext } from '../../context';
import { plainField } from '../../tasks/tasks/plain-text';

/** What is decided, and who decides it. */
export interface Review {
  decision: 'approved' | 'rejected';
  note?: string | undefined;
  /** The time that the review gets; now when absent. */
  reviewedAt?: string;
  auth: AuthContext;
}

/**
 * Reviews a permission request, once.
 *
 * @throws AppError 403 when its policies name others as approvers, 404, 409 with the record when it was reviewed before
 */
export async function reviewApproval(
  { permissionApprovals, traces }: Pick<ApiContext, 'permissionApprovals' | 'traces'>,
  id: string,
  { decision, note, reviewedAt = new Date().toISOString(), auth }: Review,
): Promise<z.output<typeof permissionReviewed>> {
  assertApprover(await permissionApprovals.get(id), auth);
  const reviewed = await permissionApprovals.review(id, {
    status: decision,
    reviewedBy: auth.actor,
    reviewedAt,
    ...(note === undefined ? {} : { note: plainField(note, 'note') }),
  });
  if (!reviewed) {
    const current = await permissionApprovals.get(id);
    assertFound(current, 'approval', id);
    throw conflict(`The request is already ${current.status}.`, {
      resourceType: 'approval',
      resourceId: id,
      current,
    });
  }
  const { agentId, action, taskId } = reviewed;
  const traceId = await traces.record({
    kind: 'agent-permission',
    outcome: decision === 'approved' ? 'allowed' : 'blocked',
    title: `${agentId}, ${action}: ${decision}`,
    summary: `${auth.actor} has ${decision} what ${agentId} asked for.`,
    subject: { agentId, actionType: action, ...(taskId && { taskId }) },
    raw: { approval: reviewed },
    dedupeKey: id,
  });
  return { ...reviewed, traceId };
}

/** @throws AppError 403 when the policies that require the approval name others as approvers */
function assertApprover(approval: PermissionApproval | undefined, { tokenName, actor }: AuthContext): void {
  const { approvers, policies } = approval ?? {};
  if (!approvers || approvers.includes(tokenName) || approvers.includes(actor)) {
    return;
  }
  throw new AppError('FORBIDDEN', {
    status: 403,
    message: `Only ${approvers.join(', ') || 'no one'} may review it, by the policies ${policies?.join(', ')}.`,
    details: { approvers, policies },
  });
}
