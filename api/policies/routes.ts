import { z } from 'zod';
import { slug } from '../../contracts/common';
import {
  policy,
  policyAnswer,
  policyCreate,
  policyQuery,
  policyQuestion,
  policyWrite,
  type Policy,
  type PolicyFields,
  type PolicyWrite,
} from '../../contracts/policy';
import type { HttpContext } from '../../platform/http/context';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import type { Recorded } from '../../stores/configured-records';
import { withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { createRecordEditor } from '../governance/records';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { isAboutAgent, isAboutProject } from './applies';
import { createPolicyEvaluator } from './evaluate';

const tag = 'policies';
const byId = z.strictObject({ id: slug });
const read = { tag, permission: 'policy:read' };
const write = { tag, permission: 'policy:write', errors: [409] };

const present = (record: PolicyFields & Recorded): Policy => record;

const answered = (ctx: HttpContext, record: PolicyFields & Recorded): Policy => present(withRevision(ctx, tag, record));

/** The policy as it is kept: its form is named, and its name has no tags. */
function kept(body: PolicyWrite): PolicyFields {
  const name = plainField(body.name, 'name');
  return 'rules' in body ? { ...body, name, type: 'rules' } : { ...body, name };
}

/** What is done about actions of agents (specification 2, Policies and governance). */
export function policyRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'policies' | 'rates' | 'agentPermissions' | 'traces'>,
): void {
  const { policies, agentPermissions } = context;
  const editor = createRecordEditor(policies, { resource: 'policy', tag, most: 500, present });
  const evaluate = createPolicyEvaluator(context);

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/policies',
      operationId: 'listPolicies',
      summary: 'List the policies, of all or of those that are about an agent or a project',
      query: policyQuery,
      response: z.array(policy),
    },
    async ({ query: { agent, project, enabled, ...part } }) => {
      const level = agent === undefined ? undefined : (await agentPermissions.get(agent)).level;
      const found = (await policies.list()).filter(
        ({ scope, enabled: isEnabled }) =>
          (enabled === undefined || enabled === isEnabled) &&
          (agent === undefined || isAboutAgent(scope, { agent, level })) &&
          (project === undefined || isAboutProject(scope, { project })),
      );
      return slicePage(found, part, ({ id }) => ({ key: id, id })).map(present);
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/policies',
      operationId: 'createPolicy',
      summary: 'Make a policy',
      body: policyCreate,
      response: policy,
      status: 201,
      audit: (_request, { id }) => ({ action: 'policy.create', resource: id }),
    },
    async ({ body: { id = newItemId('policy'), ...fields } }, ctx) =>
      answered(ctx, await editor.create(id, kept(fields))),
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/policies/:id',
      operationId: 'getPolicy',
      summary: 'Read one policy',
      params: byId,
      response: policy,
    },
    async ({ params }, ctx) => answered(ctx, await editor.find(params.id)),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: '/policies/:id',
      operationId: 'putPolicy',
      summary: 'Write over a policy',
      params: byId,
      body: policyWrite,
      response: policy,
      audit: ({ params, body }) => ({
        action: 'policy.update',
        resource: params.id,
        details: { enabled: body.enabled },
      }),
    },
    async ({ params, body, header }, ctx) => answered(ctx, await editor.replace(params.id, kept(body), header)),
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/policies/:id',
      operationId: 'deletePolicy',
      summary: 'Delete a policy',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'policy.delete', resource: params.id }),
    },
    async ({ params, header }) => {
      await editor.remove(params.id, header);
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/policies/evaluate',
      operationId: 'evaluatePolicies',
      summary: 'Decide about an action; it counts for rate limits unless it is a preview',
      tag,
      permission: 'agent:read',
      body: policyQuestion,
      response: policyAnswer,
    },
    ({ body }) => evaluate(body),
  );
}
