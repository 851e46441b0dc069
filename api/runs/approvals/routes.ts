import { z } from 'zod';
import { approvalDecision, approvalId, runApproval, runApprovalQuery } from '../../../contracts/runs/approval';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApprovalsContext } from './context';
import { decideApproval, readApproval } from './decide';
import { clientModeHeader } from './policy';

const tag = 'run approvals';
const approvalParams = z.strictObject({ approvalId });

/** The approvals that runs wait for. */
export function approvalRoutes(routes: Routes, context: ApprovalsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/run-approvals',
      operationId: 'listRunApprovals',
      summary: 'List approval requests, newest first',
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
      summary: 'Read an approval request',
      tag,
      permission: 'task:read',
      params: approvalParams,
      response: runApproval,
    },
    ({ params }) => readApproval(context, params.approvalId),
  );

  routes.add(
    {
      method: 'post',
      path: '/run-approvals/:approvalId/decision',
      operationId: 'decideRunApproval',
      summary: 'Approve or reject exactly the displayed action',
      tag,
      permission: 'admin:manage',
      params: approvalParams,
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
      decideApproval(context, params.approvalId, { body, auth, claimedMode: header(clientModeHeader) }),
  );
}
