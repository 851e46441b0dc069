import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  trustDecision,
  trustDecisionRequest,
  trustQuery,
  trustRevocation,
  workspaceTrust,
} from '../../../contracts/runs/trust';
import type { Routes } from '../../../platform/http/routing/routes';
import type { TrustContext } from './context';
import { decideTrust, revokeTrust } from './decide';
import { readTrust } from './read';

const tag = 'workspace trust';
const taskParams = z.strictObject({ taskId });

/** What workspaces bring that agents load by themselves, and whether that is trusted. */
export function trustRoutes(routes: Routes, context: TrustContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/workspace-trust',
      operationId: 'getWorkspaceTrust',
      summary: 'Read the agent files of a workspace, their trust and its decision',
      tag,
      permission: 'agent:read',
      params: taskParams,
      query: trustQuery,
      response: workspaceTrust,
      errors: [404, 409, 503],
    },
    ({ params, query }) => readTrust(context, params.taskId, query),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/workspace-trust/decisions',
      operationId: 'decideWorkspaceTrust',
      summary: 'Trust or reject exactly the displayed inventory',
      tag,
      permission: 'admin:manage',
      params: taskParams,
      body: trustDecisionRequest,
      response: trustDecision,
      status: 201,
      errors: [403, 404, 409, 503],
      audit: ({ params, body }) => ({ action: 'workspace-trust.decide', resource: params.taskId, details: body }),
    },
    ({ params, body, auth }) => decideTrust(context, { taskId: params.taskId, actor: auth.actor }, body),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/workspace-trust/revoke',
      operationId: 'revokeWorkspaceTrust',
      summary: 'Revoke trust in an inventory; launches that depend on it are refused',
      tag,
      permission: 'admin:manage',
      params: taskParams,
      body: trustRevocation,
      response: trustDecision,
      status: 201,
      errors: [403, 404, 409],
      audit: ({ params, body }) => ({ action: 'workspace-trust.revoke', resource: params.taskId, details: body }),
    },
    ({ params, body, auth }) => revokeTrust(context, { taskId: params.taskId, actor: auth.actor }, body),
  );
}
