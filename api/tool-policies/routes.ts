import { z } from 'zod';
import { slug } from '../../contracts/common';
import {
  toolAnswer,
  toolPolicy,
  toolPolicyCreate,
  toolPolicyWrite,
  toolQuestion,
  type ToolPolicy,
  type ToolPolicyFields,
} from '../../contracts/tool-policy';
import { validationError } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import type { Routes } from '../../platform/http/routes';
import type { Recorded } from '../../stores/configured-records';
import { withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { createRecordEditor } from '../governance/records';
import { decideTool } from './decide';

const tag = 'tool-policies';
const byRole = z.strictObject({ role: slug });
const read = { tag, permission: 'policy:read' };
const write = { tag, permission: 'policy:write', errors: [409] };

const present = ({ id, ...fields }: ToolPolicyFields & Recorded): ToolPolicy => ({ role: id, ...fields });

const answered = (ctx: HttpContext, record: ToolPolicyFields & Recorded): ToolPolicy =>
  present(withRevision(ctx, tag, record));

/** Which tools a role may use (specification 2, Policies and governance). */
export function toolPolicyRoutes(
  routes: Routes,
  { toolPolicies, traces }: Pick<ApiContext, 'toolPolicies' | 'traces'>,
): void {
  const policies = createRecordEditor(toolPolicies, { resource: 'tool policy', tag, most: 200, present });

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/tool-policies',
      operationId: 'listToolPolicies',
      summary: 'List the tool policies by role',
      response: z.array(toolPolicy),
    },
    async () => (await toolPolicies.list()).map(present),
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/tool-policies/:role',
      operationId: 'getToolPolicy',
      summary: 'Read the tool policy of a role',
      params: byRole,
      response: toolPolicy,
    },
    async ({ params }, ctx) => answered(ctx, await policies.find(params.role)),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/tool-policies',
      operationId: 'createToolPolicy',
      summary: 'Make a tool policy for a role that has none',
      body: toolPolicyCreate,
      response: toolPolicy,
      status: 201,
      audit: (_request, { role }) => ({ action: 'tool-policy.create', resource: role }),
    },
    async ({ body: { role, ...fields } }, ctx) => answered(ctx, await policies.create(role, fields)),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/tool-policies/:role',
      operationId: 'putToolPolicy',
      summary: 'Write over the tool policy of a role',
      params: byRole,
      body: toolPolicyWrite,
      response: toolPolicy,
      audit: ({ params }) => ({ action: 'tool-policy.update', resource: params.role }),
    },
    async ({ params, body: { role = params.role, ...fields }, header }, ctx) => {
      if (role !== params.role) throw validationError([{ path: 'role', message: 'is not the role in the path' }]);
      return answered(ctx, await policies.replace(role, fields, header));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/tool-policies/:role',
      operationId: 'deleteToolPolicy',
      summary: 'Delete the tool policy of a role',
      params: byRole,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'tool-policy.delete', resource: params.role }),
    },
    async ({ params, header }) => {
      await policies.remove(params.role, header);
      return undefined;
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/tool-policies/:role/validate',
      operationId: 'validateTool',
      summary: 'Decide whether a role may use a tool',
      params: byRole,
      body: toolQuestion,
      response: toolAnswer,
    },
    async ({ params: { role }, body: { tool } }) => {
      const { allowed, rules } = decideTool(await policies.find(role), tool);
      const traceId = await traces.record({
        kind: 'tool-policy',
        outcome: allowed ? 'allowed' : 'blocked',
        title: `Tool ${tool} for ${role}: ${allowed ? 'allowed' : 'blocked'}`,
        summary: `The role ${role} ${allowed ? 'may' : 'may not'} use the tool ${tool}.`,
        ...(allowed ? {} : { remediation: `Allow ${tool} in the tool policy of ${role}, and deny it nowhere in it.` }),
        subject: { actionType: tool },
        evaluatedRules: rules,
        raw: { role, tool },
      });
      return { role, tool, allowed, traceId };
    },
  );
}
