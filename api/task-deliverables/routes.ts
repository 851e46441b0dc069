import { z } from 'zod';
import { taskId } from '../../contracts/common';
import { deliverable, deliverableCreate, deliverablePatch, type Deliverable } from '../../contracts/deliverable';
import { task } from '../../contracts/task';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { operationTime } from '../../platform/operations/operation';
import type { ApiContext } from '../context';
import { newItemId, withItemChanged, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { withDeliverableFields } from './change';

const tag = 'deliverables';
const ofTask = z.strictObject({ taskId });
const ofDeliverable = z.strictObject({ taskId, deliverableId: z.string().max(64) });
const changes = { tag, permission: 'task:write', response: task, errors: [409] };

/** The texts of a request that pages show, without tags; what is left out stays out. */
function plainTexts<T extends { title?: string; description?: string }>(fields: T): T {
  const { title, description } = fields;
  return {
    ...fields,
    ...(title === undefined ? {} : { title: plainField(title, 'title') }),
    ...(description === undefined ? {} : { description: plainField(description, 'description') }),
  };
}

/** What a task brings forth (specification 1, Verification, …). Every change answers the task. */
export function taskDeliverableRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/deliverables',
      operationId: 'listTaskDeliverables',
      summary: 'List the deliverables of a task, the oldest first',
      tag,
      permission: 'task:read',
      params: ofTask,
      response: z.array(deliverable),
      errors: [409],
    },
    async ({ params }) => {
      const found = await board.get(params.taskId);
      assertFound(found, 'task', params.taskId);
      return found.task.deliverables ?? [];
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/deliverables',
      operationId: 'addTaskDeliverable',
      summary: 'Add a deliverable; one that says where it is counts as attached',
      params: ofTask,
      body: deliverableCreate,
      status: 201,
    },
    (request, ctx) => {
      const { expectedRevision: _revision, agent, ...fields } = request.body;
      const now = operationTime().toISOString();
      const added: Deliverable = {
        id: newItemId('deliverable'),
        type: 'other',
        ...plainTexts(fields),
        status: fields.path === undefined ? 'pending' : 'attached',
        agent: plainField(agent ?? request.auth.tokenName, 'agent'),
        version: 1,
        created: now,
        updated: now,
      };
      return changeTask(request, ctx, ({ deliverables = [] }) => ({ deliverables: [...deliverables, added] }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/deliverables/:deliverableId',
      operationId: 'changeTaskDeliverable',
      summary: 'Change a deliverable; another path or description is its next version',
      params: ofDeliverable,
      body: deliverablePatch,
    },
    (request, ctx) => {
      const { expectedRevision: _revision, ...given } = request.body;
      const fields = plainTexts(given);
      const now = new Date().toISOString();
      return changeTask(request, ctx, ({ deliverables }) => ({
        deliverables: withItemChanged(deliverables, request.params.deliverableId, 'deliverable', (before) =>
          withDeliverableFields(before, fields, now),
        ),
      }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/deliverables/:deliverableId',
      operationId: 'deleteTaskDeliverable',
      summary: 'Delete a deliverable',
      params: ofDeliverable,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ deliverables }) => ({
        deliverables: withoutItem(deliverables, request.params.deliverableId, 'deliverable'),
      })),
  );
}
