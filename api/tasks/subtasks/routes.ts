import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { criterionToggle, type Subtask, subtaskCreate, subtaskPatch } from '../../../contracts/tasks/subtask';
import { type Task, task } from '../../../contracts/tasks/task';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { taskChange } from '../tasks/change';
import { newItemId, withItemChanged, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { withCriteria, withCriterionToggled } from './criteria';

const taskParams = z.strictObject({ taskId });
const subtaskParams = z.strictObject({ taskId, subtaskId: z.string().max(64) });
const criterionParams = subtaskParams.extend({
  index: z
    .string()
    .regex(/^\d{1,4}$/, 'must be an index of the list, starting at 0')
    .transform(Number),
});
const changes = { tag: 'subtasks', permission: 'task:write', response: task, errors: [409] };

const plainCriteria = (criteria: string[]): string[] =>
  criteria.map((criterion, index) => plainField(criterion, `acceptanceCriteria.${index}`));

/** The steps of a task (specification 1, Verification, comments, subtasks, …). Every change returns the task. */
export function subtaskRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);
  /** Through `taskChange`, which knows what the last completed subtask does to its task. */
  const changed = (current: Task, id: string, change: (before: Subtask) => Subtask): Partial<Task> =>
    taskChange({ subtasks: withItemChanged(current.subtasks, { id, resource: 'subtask' }, change) }, current);

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/subtasks',
      operationId: 'addSubtask',
      summary: 'Add a subtask',
      params: taskParams,
      body: subtaskCreate,
      status: 201,
    },
    (request, ctx) => {
      const { title, acceptanceCriteria } = request.body;
      const added: Subtask = {
        id: newItemId('subtask'),
        title: plainField(title, 'title'),
        completed: false,
        created: operationTime().toISOString(),
        ...(acceptanceCriteria && withCriteria({}, plainCriteria(acceptanceCriteria))),
      };
      return changeTask(request, ctx, ({ subtasks }) => ({ subtasks: [...subtasks, added] }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/subtasks/:subtaskId',
      operationId: 'changeSubtask',
      summary: 'Update a subtask; completing the last one may complete the task',
      params: subtaskParams,
      body: subtaskPatch,
    },
    (request, ctx) => {
      const { title, completed, acceptanceCriteria } = request.body;
      const fields = {
        ...(title === undefined ? {} : { title: plainField(title, 'title') }),
        ...compact({ completed }),
      };
      const criteria = acceptanceCriteria && plainCriteria(acceptanceCriteria);
      return changeTask(request, ctx, (current) =>
        changed(current, request.params.subtaskId, (before) => ({
          ...before,
          ...fields,
          ...(criteria && withCriteria(before, criteria)),
        })),
      );
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/subtasks/:subtaskId',
      operationId: 'deleteSubtask',
      summary: 'Delete a subtask',
      params: subtaskParams,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ subtasks }) => ({
        subtasks: withoutItem(subtasks, request.params.subtaskId, 'subtask') ?? [],
      })),
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/subtasks/:subtaskId/criteria',
      operationId: 'toggleCriterion',
      summary: 'Check or uncheck an acceptance criterion of a subtask',
      params: subtaskParams,
      body: criterionToggle,
    },
    (request, ctx) =>
      changeTask(request, ctx, (current) =>
        changed(current, request.params.subtaskId, (before) =>
          withCriterionToggled(before, request.body.criteriaIndex),
        ),
      ),
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/subtasks/:subtaskId/criteria/:index',
      operationId: 'toggleCriterionByPath',
      summary: 'Check or uncheck the acceptance criterion in the path, without a body',
      params: criterionParams,
      deprecated: {
        since: '2026-11-24',
        sunset: '2027-11-24',
        successor: '/tasks/:taskId/subtasks/:subtaskId/criteria',
      },
    },
    ({ params, auth, header }, ctx) =>
      changeTask({ params, auth, header }, ctx, (current) =>
        changed(current, params.subtaskId, (before) => withCriterionToggled(before, params.index)),
      ),
  );
}
