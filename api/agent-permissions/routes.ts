import { z } from 'zod';
import {
  agentLevelWrite,
  agentPermission,
  agentPermissionCreate,
  agentPermissionPatch,
  permissionAnswer,
  permissionQuestion,
  type AgentPermission,
  type AgentPermissionFields,
} from '../../contracts/agent-permission';
import { slug } from '../../contracts/common';
import { listPage } from '../../contracts/query';
import { assertFound, conflict } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import { withoutUndefined } from '../../platform/json/without-undefined';
import { capabilitiesOf } from '../../stores/agent-permission-store';
import { StaleRevisionError } from '../../stores/errors';
import { assertRevision, statedRevision, withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { decidePermission } from './decide';

const tag = 'agent-permissions';
const resource = 'agent permission';
const byId = z.strictObject({ id: slug });
const agentPermissionQuery = z.strictObject(listPage(1000, 1000));
const write = { tag, permission: 'admin:manage', response: agentPermission, errors: [409] };

/** As many as one list answers. */
const most = 1_000;

const answered = (ctx: HttpContext, record: AgentPermission): AgentPermission => {
  withRevision(ctx, tag, { id: record.agentId, revision: record.revision });
  return record;
};

/** What agents may do of themselves (specification 2, Policies and governance). */
export function agentPermissionRoutes(
  routes: Routes,
  {
    agentPermissions,
    permissionApprovals,
    traces,
  }: Pick<ApiContext, 'agentPermissions' | 'permissionApprovals' | 'traces'>,
): void {
  const versioned = {
    get: async (id: string) => ({ id, revision: (await agentPermissions.get(id)).revision }),
  };

  /** Sets fields of one agent's, if it is at the revision the caller states. */
  async function change(
    id: string,
    fields: Partial<AgentPermissionFields>,
    header: (name: string) => string | undefined,
  ): Promise<AgentPermission> {
    const expected = await statedRevision(tag, id, header, versioned);
    return agentPermissions.change(id, (current) => {
      assertRevision(resource, { id, revision: current.revision }, expected, current);
      return fields;
    });
  }

  routes.add(
    {
      method: 'get',
      path: '/agents/permissions',
      operationId: 'listAgentPermissions',
      summary: 'List what agents may do whose permissions somebody has set',
      tag,
      permission: 'agent:read',
      query: agentPermissionQuery,
      response: z.array(agentPermission),
    },
    async ({ query }) =>
      slicePage(await agentPermissions.list(), query, ({ agentId }) => ({ key: agentId, id: agentId })),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/permissions/:id',
      operationId: 'getAgentPermission',
      summary: 'Read what an agent may do; one that nobody has set is a specialist',
      tag,
      permission: 'agent:read',
      params: byId,
      response: agentPermission,
    },
    async ({ params }, ctx) => answered(ctx, await agentPermissions.get(params.id)),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/agents/permissions',
      operationId: 'createAgentPermission',
      summary: 'Set what an agent may do that has had the default so far',
      body: agentPermissionCreate,
      status: 201,
      audit: ({ body }) => ({ action: 'agent-permission.create', resource: body.agentId, details: body }),
    },
    async ({ body: { agentId, level, ...overrides } }, ctx) => {
      if ((await agentPermissions.list()).length >= most)
        throw conflict(`There may be at most ${most}.`, { resourceType: resource });
      const fields = { level, ...capabilitiesOf(level), ...withoutUndefined(overrides) };
      try {
        return answered(ctx, await agentPermissions.create(agentId, fields));
      } catch (error) {
        if (!(error instanceof StaleRevisionError)) throw error;
        throw conflict(`The permissions of ${agentId} are set already.`, {
          resourceType: resource,
          resourceId: agentId,
          current: await agentPermissions.get(agentId),
        });
      }
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/agents/permissions/:id',
      operationId: 'changeAgentPermission',
      summary: 'Set some of what an agent may do, and leave the rest',
      params: byId,
      body: agentPermissionPatch,
      audit: ({ params, body }) => ({ action: 'agent-permission.update', resource: params.id, details: body }),
    },
    async ({ params, body, header }, ctx) => answered(ctx, await change(params.id, withoutUndefined(body), header)),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/agents/permissions/:id/level',
      operationId: 'setAgentLevel',
      summary: 'Give an agent a level, with what agents of that level may do',
      params: byId,
      body: agentLevelWrite,
      audit: ({ params, body }) => ({ action: 'agent-permission.level', resource: params.id, details: body }),
    },
    async ({ params, body: { level }, header }, ctx) =>
      answered(ctx, await change(params.id, { level, ...capabilitiesOf(level) }, header)),
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/permissions/check',
      operationId: 'checkAgentPermission',
      summary: 'Decide whether an agent may do something',
      tag,
      permission: 'agent:read',
      body: permissionQuestion,
      response: permissionAnswer,
    },
    async ({ body: { agentId, action, approvalId } }) => {
      const approval = approvalId === undefined ? undefined : await permissionApprovals.get(approvalId);
      if (approvalId !== undefined) assertFound(approval, 'approval', approvalId);
      const permission = await agentPermissions.get(agentId);
      const { allowed, requiresApproval, rule, reason } = decidePermission(permission, action, approval);
      const outcome = allowed ? 'allowed' : requiresApproval ? 'approval-required' : 'blocked';
      const traceId = await traces.record({
        kind: 'agent-permission',
        outcome,
        title: `${agentId}, ${action}: ${outcome}`,
        summary: reason,
        ...(requiresApproval ? { remediation: 'Ask for an approval at /api/agents/permissions/approvals.' } : {}),
        subject: { agentId, actionType: action, ...(approval?.taskId && { taskId: approval.taskId }) },
        evaluatedRules: [
          { id: rule, label: rule, type: 'agent-permission', status: 'matched', outcome, message: reason },
        ],
        raw: { permission, approvalId },
      });
      return { allowed, level: permission.level, requiresApproval, reason, traceId };
    },
  );
}
