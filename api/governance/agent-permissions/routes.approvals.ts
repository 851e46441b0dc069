import { z } from 'zod';
import {
  permissionApproval,
  permissionApprovalCreate,
  permissionApprovalId,
  permissionApprovalQuery,
  permissionReview,
  permissionReviewed,
} from '../../../contracts/governance/agent-permission';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { reviewApproval } from './review';

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
    ({ params: { id }, body, auth }) => reviewApproval({ permissionApprovals, traces }, id, { ...body, auth }),
  );
}
