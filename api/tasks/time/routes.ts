import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import { task } from '../../../contracts/tasks/task';
import { timeEntryCreate, timeSummary } from '../../../contracts/tasks/time';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../tasks/items';
import { listAllTasks } from '../tasks/list-all-tasks';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';
import { timeByProject } from './summary';
import { noted, started, stopped, withoutEntry } from './tracking';

const tag = 'time';
const taskParams = z.strictObject({ taskId });
const summaryQuery = z.strictObject(listPage(1000, 1000));
const changes = { tag, permission: 'task:write', response: task, errors: [409] };

/** Time spent on tasks (specification 1, Time tracking). Every change returns the task. */
export function timeRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      method: 'get',
      path: '/tasks/time/summary',
      operationId: 'summariseTime',
      summary: 'Summarize the time of all tasks by project, backlog and archive included',
      tag,
      permission: 'task:read',
      query: summaryQuery,
      response: timeSummary,
    },
    async ({ query }) => {
      const { byProject, total } = timeByProject(listAllTasks(board).map((one) => one.task));
      const positionOf = ({ project, totalSeconds }: (typeof byProject)[number]) => ({
        key: -totalSeconds,
        id: project,
      });
      const page = slicePage(byProject, query, { positionOf });
      return page.answer({ byProject: page.items, total });
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/time/start',
      operationId: 'startTimer',
      summary: 'Start the timer of a task',
      params: taskParams,
    },
    (request, ctx) => {
      const [id, now] = [newItemId('time'), operationTime()];
      return changeTask(request, ctx, ({ timeTracking }) => ({ timeTracking: started(timeTracking, id, now) }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/time/stop',
      operationId: 'stopTimer',
      summary: 'Stop the timer of a task',
      params: taskParams,
    },
    (request, ctx) => {
      const now = new Date();
      return changeTask(request, ctx, ({ timeTracking }) => ({ timeTracking: stopped(timeTracking, now) }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/time/entry',
      operationId: 'addTimeEntry',
      summary: 'Add a time entry to a task',
      params: taskParams,
      body: timeEntryCreate,
    },
    (request, ctx) => {
      const { durationMs, duration = 0, description } = request.body;
      const [id, now] = [newItemId('time'), operationTime()];
      const spent = {
        durationMs: durationMs ?? duration * 1000,
        ...(description ? { description: plainField(description, 'description') } : {}),
      };
      return changeTask(request, ctx, ({ timeTracking }) => ({
        timeTracking: noted(timeTracking, spent, { id, now }),
      }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/time/entry/:entryId',
      operationId: 'deleteTimeEntry',
      summary: 'Delete a time entry of a task; a running timer stops',
      params: z.strictObject({ taskId, entryId: z.string().max(64) }),
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ timeTracking }) => ({
        timeTracking: withoutEntry(timeTracking, request.params.entryId),
      })),
  );
}
