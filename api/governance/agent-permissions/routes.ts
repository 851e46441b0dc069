import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  agentLevelWrite,
  type AgentPermission,
  agentPermission,
  agentPermissionCreate,
  type AgentPermissionFields,
  agentPermissionPatch,
  permissionQuestion,
  permissionResponse,
} from '../../../contracts/governance/agent-permission';
import { listPage } from '../../../contracts/query';
import { decidePermission, type PermissionDecision } from '../../../domain/governance/agent-permission';
import { untrustedHost } from '../../../domain/governance/trusted-domains';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { capabilitiesOf } from '../../../stores/governance/agent-permission-store';
import { StaleRevisionError } from '../../../stores/port/errors';
import type { ApiContext } from '../../context';
import { assertRevision, statedRevision, withRevision } from '../../revisions';

const tag = 'agent-permissions';
const resource = 'agent permission';
const idParams = z.strictObject({ id: slug });
const agentPermissionQuery = z.strictObject(listPage(1000, 1000));
const write = { tag, permission: 'admin:manage', response: agentPermission, errors: [409] };

/** Limit of one list. */
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
    routing,
    traces,
  }: Pick<ApiContext, 'agentPermissions' | 'permissionApprovals' | 'routing' | 'traces'>,
): void {
  /** Sets fields of one agent's, if it is at the revision the caller states. */
  async function change(
    id: string,
    fields: Partial<AgentPermissionFields>,
    header: (name: string) => string | undefined,
  ): Promise<AgentPermission> {
    const expected = await statedRevision({ type: tag, id, current: () => agentPermissions.get(id) }, { header });
    return agentPermissions.change(id, (current) => {
      assertRevision(resource, { id, revision: current.revision }, { expectedRevision: expected, shown: current });
      return fields;
    });
  }

  /** Whether the configuration of the agent lets it launch children. */
  async function mayLaunchChildren(agentId: string): Promise<boolean> {
    const { agents } = await routing.inputs();
    return agents.find(({ type }) => type === agentId)?.launchesChildren === true;
  }

  routes.add(
    {
      method: 'get',
      path: '/agents/permissions',
      operationId: 'listAgentPermissions',
      summary: 'List agents with configured permissions',
      tag,
      permission: 'agent:read',
      query: agentPermissionQuery,
      response: z.array(agentPermission),
    },
    async ({ query }) =>
      slicePage(await agentPermissions.list(), query, { positionOf: ({ agentId }) => ({ key: agentId, id: agentId }) }),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/permissions/:id',
      operationId: 'getAgentPermission',
      summary: 'Read the permissions of an agent; the default level is specialist',
      tag,
      permission: 'agent:read',
      params: idParams,
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
      summary: 'Create permissions of an agent that had the default',
      body: agentPermissionCreate,
      status: 201,
      audit: ({ body }) => ({ action: 'agent-permission.create', resource: body.agentId, details: body }),
    },
    async ({ body: { agentId, level, ...overrides } }, ctx) => {
      if ((await agentPermissions.list()).length >= most) {
        throw conflict(`The limit of ${most} is reached; delete one first.`, { resourceType: resource });
      }
      const fields = { level, ...capabilitiesOf(level), ...compact(overrides) };
      try {
        return answered(ctx, await agentPermissions.create(agentId, fields));
      } catch (error) {
        if (!(error instanceof StaleRevisionError)) {
          throw error;
        }
        throw conflict(`${agentId} already has permissions; update them instead.`, {
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
      summary: 'Update permissions of an agent',
      params: idParams,
      body: agentPermissionPatch,
      audit: ({ params, body }) => ({ action: 'agent-permission.update', resource: params.id, details: body }),
    },
    async ({ params, body, header }, ctx) => answered(ctx, await change(params.id, compact(body), header)),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/agents/permissions/:id/level',
      operationId: 'setAgentLevel',
      summary: 'Set the permission level of an agent',
      params: idParams,
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
      summary: 'Check whether an agent has a permission, and whether it may reach a host',
      tag,
      permission: 'agent:read',
      body: permissionQuestion,
      response: permissionResponse,
    },
    async ({ body: { agentId, action, approvalId, ...reaches } }) => {
      const approval = approvalId === undefined ? undefined : await permissionApprovals.get(approvalId);
      if (approvalId !== undefined) {
        assertFound(approval, 'approval', approvalId);
      }
      const permission = await agentPermissions.get(agentId);
      const byAction = decidePermission(permission, action, {
        ...compact({ approval }),
        launchesChildren: await mayLaunchChildren(agentId),
      });
      const { allowed, requiresApproval, rule, reason } = withDomains(byAction, permission, reaches);
      const outcome = allowed ? 'allowed' : requiresApproval ? 'approval-required' : 'blocked';
      const traceId = await traces.record({
        kind: 'agent-permission',
        outcome,
        title: `${agentId}, ${action}: ${outcome}`,
        summary: reason,
        ...(requiresApproval
          ? { remediation: 'Request an approval with POST /api/agents/permissions/approvals.' }
          : {}),
        subject: { agentId, actionType: action, ...(approval?.taskId && { taskId: approval.taskId }) },
        evaluatedRules: [
          { id: rule, label: rule, type: 'agent-permission', status: 'matched', outcome, message: reason },
        ],
        raw: { permission, approvalId, ...compact(reaches) },
      });
      return { allowed, level: permission.level, requiresApproval, reason, traceId };
    },
  );
}

/** What an action that is allowed comes to where it reaches a host: one that is not trusted needs an approval of its own. */
function withDomains(
  byAction: PermissionDecision,
  permission: AgentPermission,
  { host, url }: { host?: string | undefined; url?: string | undefined },
): Pick<PermissionDecision, 'allowed' | 'requiresApproval' | 'reason'> & { rule: string } {
  const reached = host ?? (url === undefined ? undefined : new URL(url).hostname);
  const reason = byAction.allowed && reached !== undefined ? untrustedHost(permission, { host: reached }) : undefined;
  return reason === undefined ? byAction : { allowed: false, requiresApproval: true, rule: 'trusted-domains', reason };
}
