import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type Observation,
  observation,
  observationCreate,
  observationQuery,
  observationSearch,
} from '../../../contracts/tasks/observation';
import { task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { searchObservations } from './search';

const tag = 'observations';
const taskParams = z.strictObject({ taskId });
const observationParams = z.strictObject({ taskId, obsId: z.string().max(64) });
const reads = { method: 'get' as const, tag, permission: 'task:read' };
const changes = { tag, permission: 'task:write', response: task, errors: [409] };
const searches = { ...reads, query: observationQuery, response: observationSearch };

/** Observations made during work (specification 1, Observations). Every change returns the task. */
export function observationRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      ...searches,
      path: '/observations',
      operationId: 'searchObservations',
      summary: 'Search observations on active tasks, newest first',
    },
    async ({ query }) => searchObservations(board, query),
  );

  routes.add(
    {
      ...searches,
      path: '/observations/search',
      operationId: 'searchObservationsByName',
      summary: 'Search observations on active tasks, newest first',
      deprecated: { since: '2026-11-24', sunset: '2027-11-24', successor: '/observations' },
    },
    async ({ query }) => searchObservations(board, query),
  );

  routes.add(
    {
      ...reads,
      path: '/tasks/:taskId/observations',
      operationId: 'listObservations',
      summary: 'List observations on a task, oldest first',
      params: taskParams,
      response: z.array(observation),
      errors: [409],
    },
    async ({ params }) => {
      const boardTask = await board.get(params.taskId);
      assertFound(boardTask, 'task', params.taskId);
      return boardTask.task.observations ?? [];
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/observations',
      operationId: 'addObservation',
      summary: 'Add an observation to a task',
      params: taskParams,
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
      params: observationParams,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ observations }) => ({
        observations: withoutItem(observations, request.params.obsId, 'observation'),
      })),
  );
}
