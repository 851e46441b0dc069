import { z } from 'zod';
import {
  type PermissionApproval,
  permissionApproval,
  permissionApprovalCreate,
  permissionApprovalId,
  permissionApprovalQuery,
  permissionReview,
  permissionReviewed,
} from '../../../contracts/governance/agent-permission';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';

const tag = 'agent-permissions';

/** Approvals that agents request (specification 1, Other lifecycles: Agent permission approval). */
export function permissionApprovalRoutes(
  routes: Routes,
  { permissionApprovals, traces }: Pick<ApiContext, 'permissionApprovals' | 'traces'>,
): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/permissions/approvals',
      operationId: 'listPermissionApprovals',
      summary: 'List pending permission requests of agents, oldest first',
      tag,
      permission: 'agent:read',
      query: permissionApprovalQuery,
      response: z.array(permissionApproval),
    },
    ({ query }) => permissionApprovals.pending(query),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/permissions/approvals',
      operationId: 'requestPermissionApproval',
      summary: 'Request a permission for an agent',
      tag,
      permission: 'task:write',
      body: permissionApprovalCreate,
      response: permissionApproval,
      status: 201,
    },
    async ({ body: { reason, ...asked }, auth }) => {
      const approval = {
        id: newItemId('approval'),
        ...asked,
        ...(reason === undefined ? {} : { reason: plainField(reason, 'reason') }),
        status: 'pending' as const,
        requestedBy: auth.actor,
        createdAt: operationTime().toISOString(),
      };
      await permissionApprovals.request(approval);
      return approval;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/permissions/approvals/:id',
      operationId: 'reviewPermissionApproval',
      summary: 'Approve or reject a permission request; the first review is final',
      tag,
      permission: 'admin:manage',
      params: z.strictObject({ id: permissionApprovalId }),
      body: permissionReview,
      response: permissionReviewed,
      errors: [409],
      audit: ({ params, body }) => ({ action: 'agent-permission.review', resource: params.id, details: body }),
    },
    async ({ params: { id }, body: { decision, note }, auth }) => {
      assertApprover(await permissionApprovals.get(id), auth);
      const reviewed = await permissionApprovals.review(id, {
        status: decision,
        reviewedBy: auth.actor,
        reviewedAt: new Date().toISOString(),
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
    },
  );
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
