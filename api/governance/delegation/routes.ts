import { z } from 'zod';
import {
  permissionApprovalId,
  permissionReview,
  permissionReviewed,
} from '../../../contracts/governance/agent-permission';
import {
  currentDelegation,
  delegation,
  delegationCreate,
  delegationLog,
  delegationLogQuery,
} from '../../../contracts/governance/delegation';
import { notFound, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { decideAsDelegate, type DelegationContext, settleInterrupted } from './decide';

const tag = 'delegation';
const path = '/delegation';

/** Who decides approvals while an administrator is away (specification 1, Mount list). */
export function delegationRoutes(routes: Routes, context: DelegationContext): void {
  const { delegations } = context;

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'getDelegation',
      summary: 'Read the delegation that counts now',
      tag,
      permission: 'agent:read',
      response: currentDelegation,
    },
    async () => ({ delegation: await delegations.active() }),
  );

  routes.add(
    {
      method: 'post',
      path,
      operationId: 'setDelegation',
      summary: 'Set which agent decides permission requests, and until when',
      tag,
      permission: 'admin:manage',
      body: delegationCreate,
      response: delegation,
      audit: ({ body: { delegateAgent, expires, scope } }, { id }) => ({
        action: 'delegation.set',
        resource: id,
        details: { delegateAgent, expires, scope },
      }),
    },
    async ({ body: { createdBy, ...fields }, auth: { actor, tokenName } }) => {
      if (Date.parse(fields.expires) <= Date.now()) {
        throw validationError([{ path: 'expires', message: 'must be in the future' }]);
      }
      const made = {
        ...fields,
        id: newItemId('delegation'),
        createdBy: plainField(createdBy ?? tokenName, 'createdBy'),
        setBy: actor,
        createdAt: operationTime().toISOString(),
      };
      await delegations.set(made);
      return made;
    },
  );

  routes.add(
    {
      method: 'delete',
      path,
      operationId: 'revokeDelegation',
      summary: 'Revoke the delegation',
      tag,
      permission: 'admin:manage',
      response: z.undefined(),
      status: 204,
      errors: [404],
      audit: () => ({ action: 'delegation.revoke' }),
    },
    async () => {
      if (!(await delegations.revoke())) {
        throw notFound('delegation', 'current');
      }
      return undefined;
    },
  );

  routes.add(
    {
      method: 'get',
      path: `${path}/log`,
      operationId: 'listDelegatedApprovals',
      summary: 'List what was decided and completed under delegations, newest first',
      tag,
      permission: 'agent:read',
      query: delegationLogQuery,
      response: delegationLog,
    },
    async ({ query }) => {
      await settleInterrupted(context, new Date());
      const page = await delegations.log(query);
      return page.answer({ approvals: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/approvals/:id`,
      operationId: 'decideDelegatedApproval',
      summary: 'Approve or reject a permission request as the delegate, within its scope',
      tag,
      permission: 'task:write',
      params: z.strictObject({ id: permissionApprovalId }),
      body: permissionReview,
      response: permissionReviewed,
      errors: [403, 404, 409],
      audit: ({ params, body }) => ({ action: 'agent-permission.review', resource: params.id, details: body }),
    },
    ({ params: { id }, body, auth }) => decideAsDelegate(context, id, { ...body, auth }),
  );
}
