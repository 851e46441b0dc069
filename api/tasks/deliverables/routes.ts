import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type Deliverable,
  deliverable,
  deliverableCreate,
  deliverablePatch,
} from '../../../contracts/tasks/deliverable';
import { task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId, withItemChanged, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { withDeliverableFields } from './change';

const tag = 'deliverables';
const taskParams = z.strictObject({ taskId });
const deliverableParams = z.strictObject({ taskId, deliverableId: z.string().max(64) });
const changes = { tag, permission: 'task:write', response: task, errors: [409] };

/** The texts of a request that pages show, without tags; absent ones stay absent. */
function plainTexts<T extends { title?: string; description?: string }>(fields: T): T {
  const { title, description } = fields;
  return {
    ...fields,
    ...(title === undefined ? {} : { title: plainField(title, 'title') }),
    ...(description === undefined ? {} : { description: plainField(description, 'description') }),
  };
}

/** The deliverables of a task (specification 1, Verification, …). Every change returns the task. */
export function taskDeliverableRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/deliverables',
      operationId: 'listTaskDeliverables',
      summary: 'List deliverables of a task, oldest first',
      tag,
      permission: 'task:read',
      params: taskParams,
      response: z.array(deliverable),
      errors: [409],
    },
    async ({ params }) => {
      const boardTask = await board.get(params.taskId);
      assertFound(boardTask, 'task', params.taskId);
      return boardTask.task.deliverables ?? [];
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/deliverables',
      operationId: 'addTaskDeliverable',
      summary: 'Add a deliverable; one with a path counts as attached',
      params: taskParams,
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
      summary: 'Update a deliverable; a new path or description creates a version',
      params: deliverableParams,
      body: deliverablePatch,
    },
    (request, ctx) => {
      const { expectedRevision: _revision, ...patch } = request.body;
      const fields = plainTexts(patch);
      const now = new Date().toISOString();
      return changeTask(request, ctx, ({ deliverables }) => ({
        deliverables: withItemChanged(
          deliverables,
          { id: request.params.deliverableId, resource: 'deliverable' },
          (before) => withDeliverableFields(before, fields, now),
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
      params: deliverableParams,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ deliverables }) => ({
        deliverables: withoutItem(deliverables, request.params.deliverableId, 'deliverable'),
      })),
  );
}
