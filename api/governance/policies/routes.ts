import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  type Policy,
  policy,
  policyCreate,
  type PolicyFields,
  policyQuery,
  policyQuestion,
  policyResponse,
  type PolicyWrite,
  policyWrite,
} from '../../../contracts/governance/policy';
import { isAboutAgent, isAboutProject } from '../../../domain/governance/policy-scope';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { Recorded } from '../../../stores/port/configured-records';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { evaluateQuestion, type PolicyEvaluationContext } from './evaluate';

const present = (record: PolicyFields & Recorded): Policy => record;

/** The policy to store: its form is named, and its name has no tags. */
function storedFields(body: PolicyWrite): PolicyFields {
  const name = plainField(body.name, 'name');
  return 'rules' in body ? { ...body, name, type: 'rules' } : { ...body, name };
}

/** The policies for actions of agents (specification 2, Policies and governance). */
export function policyRoutes(routes: Routes, context: PolicyEvaluationContext): void {
  const policies = recordRoutes(routes, {
    records: context.policies,
    resource: 'policy',
    type: 'policies',
    path: '/policies',
    id: 'id',
    params: z.strictObject({ id: slug }),
    response: policy,
    permissions: { read: 'policy:read', write: 'policy:write' },
    max: 500,
    present,
  });

  policies.list(
    {
      operationId: 'listPolicies',
      summary: 'List policies, optionally of one agent or project',
      query: policyQuery,
      response: z.array(policy),
    },
    async (all, { agent, project, enabled, ...part }) => {
      const level = agent === undefined ? undefined : (await context.agentPermissions.get(agent)).level;
      const matching = all.filter(
        ({ scope, enabled: isEnabled }) =>
          (enabled === undefined || enabled === isEnabled) &&
          (agent === undefined || isAboutAgent(scope, { agent, level })) &&
          (project === undefined || isAboutProject(scope, { project })),
      );
      return slicePage(matching, part, { positionOf: ({ id }) => ({ key: id, id }) }).map(present);
    },
  );

  policies.create(
    {
      operationId: 'createPolicy',
      summary: 'Create a policy',
      body: policyCreate,
      audit: { action: 'policy.create' },
    },
    ({ id = newItemId('policy'), ...fields }) => ({ id, fields: storedFields(fields) }),
  );

  policies.get({ operationId: 'getPolicy', summary: 'Read one policy' });

  policies.replace(
    {
      operationId: 'putPolicy',
      summary: 'Replace a policy',
      body: policyWrite,
      audit: { action: 'policy.update', details: ({ enabled }) => ({ enabled }) },
    },
    storedFields,
  );

  policies.remove({
    operationId: 'deletePolicy',
    summary: 'Delete a policy',
    audit: { action: 'policy.delete' },
  });

  routes.add(
    {
      method: 'post',
      path: '/policies/evaluate',
      operationId: 'evaluatePolicies',
      summary: 'Evaluate an action against the policies; a preview does not count for rate limits',
      tag: 'policies',
      permission: 'agent:read',
      body: policyQuestion,
      response: policyResponse,
    },
    ({ body }) => evaluateQuestion(context, body),
  );
}
