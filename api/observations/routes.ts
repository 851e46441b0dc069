import { z } from 'zod';
import { taskId } from '../../contracts/common';
import {
  observation,
  observationCreate,
  observationQuery,
  observationSearch,
  type Observation,
} from '../../contracts/observation';
import { task } from '../../contracts/task';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { operationTime } from '../../platform/operations/operation';
import type { ApiContext } from '../context';
import { newItemId, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { searchObservations } from './search';

const tag = 'observations';
const ofTask = z.strictObject({ taskId });
const ofObservation = z.strictObject({ taskId, obsId: z.string().max(64) });
const reads = { method: 'get' as const, tag, permission: 'task:read' };
const changes = { tag, permission: 'task:write', response: task, errors: [409] };
const searches = { ...reads, query: observationQuery, response: observationSearch };

/** What was found out on the way (specification 1, Observations). Every change answers the task. */
export function observationRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      ...searches,
      path: '/observations',
      operationId: 'searchObservations',
      summary: 'Search the observations on active tasks, the newest first',
    },
    async ({ query }) => searchObservations(board, query),
  );

  routes.add(
    {
      ...searches,
      path: '/observations/search',
      operationId: 'searchObservationsByName',
      summary: 'The same under another name',
    },
    async ({ query }) => searchObservations(board, query),
  );

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/observations',
      operationId: 'listObservations',
      summary: 'List the observations on a task, the oldest first',
      params: ofTask,
      response: z.array(observation),
      errors: [409],
    },
    async ({ params }) => {
      const found = await board.get(params.taskId);
      assertFound(found, 'task', params.taskId);
      return found.task.observations ?? [];
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/observations',
      operationId: 'addObservation',
      summary: 'Note an observation on a task',
      params: ofTask,
      body: observationCreate,
      status: 201,
    },
    (request, ctx) => {
      const { body, auth } = request;
      const added: Observation = {
        id: newItemId('observation'),
        type: body.type,
        content: plainField(body.content, 'content'),
        score: body.score ?? 5,
        timestamp: operationTime().toISOString(),
        agent: plainField(body.agent ?? auth.tokenName, 'agent'),
      };
      return changeTask(request, ctx, ({ observations = [] }) => ({ observations: [...observations, added] }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/observations/:obsId',
      operationId: 'deleteObservation',
      summary: 'Delete an observation',
      params: ofObservation,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ observations }) => ({
        observations: withoutItem(observations, request.params.obsId, 'observation'),
      })),
  );
}
