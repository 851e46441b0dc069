import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  type ToolPolicy,
  toolPolicy,
  toolPolicyCreate,
  type ToolPolicyFields,
  toolPolicyWrite,
  toolQuestion,
  toolResponse,
} from '../../../contracts/governance/tool-policy';
import { decideTool } from '../../../domain/governance/tool-policy';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { Recorded } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';

const byRole = z.strictObject({ role: slug });

const present = ({ id, ...fields }: ToolPolicyFields & Recorded): ToolPolicy => ({ role: id, ...fields });

/** Which tools a role may use (specification 2, Policies and governance). */
export function toolPolicyRoutes(
  routes: Routes,
  { toolPolicies, traces }: Pick<ApiContext, 'toolPolicies' | 'traces'>,
): void {
  const policies = recordRoutes(routes, {
    records: toolPolicies,
    resource: 'tool policy',
    type: 'tool-policies',
    path: '/tool-policies',
    id: 'role',
    params: byRole,
    response: toolPolicy,
    permissions: { read: 'policy:read', write: 'policy:write' },
    max: 200,
    present,
  });

  policies.list(
    { operationId: 'listToolPolicies', summary: 'List tool policies by role', response: z.array(toolPolicy) },
    (all) => all.map(present),
  );

  policies.get({ operationId: 'getToolPolicy', summary: 'Read the tool policy of a role' });

  policies.create(
    {
      operationId: 'createToolPolicy',
      summary: 'Create the tool policy of a role',
      body: toolPolicyCreate,
      audit: { action: 'tool-policy.create' },
    },
    ({ role, ...fields }) => ({ id: role, fields }),
  );

  policies.replace(
    {
      operationId: 'putToolPolicy',
      summary: 'Replace the tool policy of a role',
      body: toolPolicyWrite,
      audit: { action: 'tool-policy.update' },
    },
    ({ role, ...fields }, id) => {
      if (role !== undefined && role !== id) {
        throw validationError([{ path: 'role', message: 'is not the role in the path' }]);
      }
      return fields;
    },
  );

  policies.remove({
    operationId: 'deleteToolPolicy',
    summary: 'Delete the tool policy of a role',
    audit: { action: 'tool-policy.delete' },
  });

  routes.add(
    {
      method: 'post',
      path: '/tool-policies/:role/validate',
      operationId: 'validateTool',
      summary: 'Check whether a role may use a tool',
      tag: 'tool-policies',
      permission: 'policy:read',
      params: byRole,
      body: toolQuestion,
      response: toolResponse,
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
