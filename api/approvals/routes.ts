import { z } from 'zod';
import { approvalDecision, approvalId, runApproval, runApprovalQuery } from '../../contracts/run-approval';
import type { Routes } from '../../platform/http/routes';
import type { ApprovalsContext } from './context';
import { decideApproval, readApproval } from './decide';
import { clientModeHeader } from './policy';

const tag = 'run approvals';
const ofApproval = z.strictObject({ approvalId });

/** What runs wait for somebody to allow. */
export function approvalRoutes(routes: Routes, context: ApprovalsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/run-approvals',
      operationId: 'listRunApprovals',
      summary: 'List requests for approval, the newest first',
      tag,
      permission: 'task:read',
      query: runApprovalQuery,
      response: z.array(runApproval),
    },
    async ({ query }) => {
      await context.approvals.expireDue(context.now().toISOString());
      return context.approvals.list(query);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/run-approvals/:approvalId',
      operationId: 'getRunApproval',
      summary: 'Read one request for approval',
      tag,
      permission: 'task:read',
      params: ofApproval,
      response: runApproval,
    },
    ({ params }) => readApproval(context, params.approvalId),
  );

  routes.add(
    {
      method: 'post',
      path: '/run-approvals/:approvalId/decision',
      operationId: 'decideRunApproval',
      summary: 'Approve or reject exactly the action that was seen',
      tag,
      permission: 'admin:manage',
      params: ofApproval,
      body: approvalDecision,
      response: runApproval,
      errors: [404, 409, 503],
      audit: ({ params, body }) => ({
        action: 'run-approval.decide',
        resource: params.approvalId,
        details: { decision: body.decision },
      }),
    },
    ({ params, body, auth, header }) =>
      decideApproval(context, params.approvalId, body, { auth, claimedMode: header(clientModeHeader) }),
  );
}
