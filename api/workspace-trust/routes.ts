import { z } from 'zod';
import { taskId } from '../../contracts/common';
import {
  trustDecision,
  trustDecisionRequest,
  trustQuery,
  trustRevocation,
  workspaceTrust,
} from '../../contracts/workspace-trust';
import type { Routes } from '../../platform/http/routes';
import type { TrustContext } from './context';
import { decideTrust, revokeTrust } from './decide';
import { readTrust } from './read';

const tag = 'workspace trust';
const ofTask = z.strictObject({ taskId });

/** What workspaces bring that agents take up by themselves, and whether that is trusted. */
export function trustRoutes(routes: Routes, context: TrustContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/workspace-trust',
      operationId: 'getWorkspaceTrust',
      summary: 'Read what the workspace brings for agents, whether it is trusted, and who decided',
      tag,
      permission: 'agent:read',
      params: ofTask,
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
      summary: 'Trust or reject exactly the inventory that was looked at',
      tag,
      permission: 'admin:manage',
      params: ofTask,
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
      summary: 'Revoke trust in an inventory: launches that depend on it are refused from now on',
      tag,
      permission: 'admin:manage',
      params: ofTask,
      body: trustRevocation,
      response: trustDecision,
      status: 201,
      errors: [403, 404, 409],
      audit: ({ params, body }) => ({ action: 'workspace-trust.revoke', resource: params.taskId, details: body }),
    },
    ({ params, body, auth }) => revokeTrust(context, { taskId: params.taskId, actor: auth.actor }, body),
  );
}
