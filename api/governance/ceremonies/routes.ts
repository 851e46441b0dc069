import { z } from 'zod';
import {
  type Ceremony,
  ceremony,
  type CeremonyCompletion,
  ceremonyCompletion,
  ceremonyCreate,
  ceremonyId,
  ceremonyQuery,
} from '../../../contracts/governance/ceremony';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { missingArtifacts } from './missing';

const tag = 'ceremonies';

/** The outcome with HTML tags removed from its titles. Bodies are markdown and stay as they are. */
const plainOutcome = ({ artifacts, actionItems }: CeremonyCompletion): Pick<Ceremony, 'artifacts' | 'actionItems'> => ({
  artifacts: artifacts.map((artifact, index) => ({
    ...artifact,
    ...(artifact.title === undefined ? {} : { title: plainField(artifact.title, `artifacts.${index}.title`) }),
  })),
  actionItems: actionItems.map((item, index) => ({
    ...item,
    title: plainField(item.title, `actionItems.${index}.title`),
  })),
});

/** Design reviews and retrospectives (specification 2, Policies and governance). */
export function ceremonyRoutes(routes: Routes, { ceremonies, board }: Pick<ApiContext, 'ceremonies' | 'board'>): void {
  routes.add(
    {
      method: 'get',
      path: '/ceremonies',
      operationId: 'listCeremonies',
      summary: 'List ceremonies, newest first',
      tag,
      permission: 'workflow:read',
      query: ceremonyQuery,
      response: z.array(ceremony),
    },
    ({ query }) => ceremonies.list(query),
  );

  routes.add(
    {
      method: 'post',
      path: '/ceremonies',
      operationId: 'createCeremony',
      summary: 'Schedule a ceremony',
      tag,
      permission: 'workflow:write',
      body: ceremonyCreate,
      response: ceremony,
      status: 201,
      audit: (_request, { id, kind, target }) => ({
        action: 'ceremony.created',
        resource: id,
        details: { kind, target },
      }),
    },
    async ({ body }) => {
      const { taskId } = body.target;
      if (taskId !== undefined) {
        assertFound(await board.get(taskId), 'task', taskId);
      }
      const at = operationTime().toISOString();
      return ceremonies.open({
        ...body,
        id: newItemId('ceremony'),
        ...(body.title === undefined ? {} : { title: plainField(body.title, 'title') }),
        status: 'pending',
        artifacts: [],
        actionItems: [],
        createdAt: at,
        updatedAt: at,
      });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/ceremonies/:id/complete',
      operationId: 'completeCeremony',
      summary: 'Complete a ceremony with its outcome',
      tag,
      permission: 'workflow:write',
      params: z.strictObject({ id: ceremonyId }),
      body: ceremonyCompletion,
      response: ceremony,
      errors: [409],
      audit: ({ params }, { completedBy }) => ({
        action: 'ceremony.completed',
        resource: params.id,
        details: { completedBy },
      }),
    },
    async ({ params: { id }, body, auth }) => {
      const pending = await ceremonies.get(id);
      assertFound(pending, 'ceremony', id);
      const missing = missingArtifacts(pending.requiredArtifacts, body);
      if (pending.status === 'pending' && missing.length > 0) {
        throw validationError(missing.map((kind) => ({ path: 'artifacts', message: `${kind} is missing` })));
      }
      const completed = await ceremonies.complete(id, {
        ...plainOutcome(body),
        completedBy: body.completedBy === undefined ? auth.actor : plainField(body.completedBy, 'completedBy'),
        completedAt: new Date().toISOString(),
      });
      if (completed) {
        return completed;
      }
      const current = await ceremonies.get(id);
      throw conflict('The ceremony is no longer pending.', { resourceType: 'ceremony', resourceId: id, current });
    },
  );
}
