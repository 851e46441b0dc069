import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import {
  automationCompleted,
  automationCompletion,
  automationStart,
  automationStarted,
  automationType,
  type TaskAutomation,
} from '../../../contracts/tasks/automation';
import { type Task, task } from '../../../contracts/tasks/task';
import { conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../tasks/items';
import { createTaskChanger } from '../tasks/task-changer';

const tag = 'automation';
const params = z.strictObject({ taskId });
const write = { tag, permission: 'task:write', method: 'post' } as const;

/** How much of a failure is the reason that the task is blocked. */
const maxReason = 1_000;

const isRunning = ({ automation }: Task): boolean =>
  automation?.spawnedAt !== undefined && automation.completedAt === undefined;
const isPending = (one: Task): boolean => one.status === 'todo' && !isRunning(one);

/** @throws AppError 400 for a task of another type */
function assertAutomation({ type }: Task): void {
  if (type !== automationType) {
    throw validationError([{ path: 'taskId', message: `is a task of the type ${type}, not ${automationType}` }]);
  }
}

/** @throws AppError 409 while a session, or a run of an agent, has the task, and when it is done */
function assertStartable(current: Task): void {
  const { id: resourceId, status, automation, attempt } = current;
  const busy = { resourceType: 'task', resourceId, currentRevision: current.revision };
  if (isRunning(current)) {
    throw conflict('A session has started the task.', { ...busy, automation }, 'AUTOMATION_RUNNING');
  }
  if (attempt?.status === 'pending' || attempt?.status === 'running') {
    throw conflict(
      `An agent works on the task, ${attempt.id}.`,
      { ...busy, taskId: resourceId, attemptId: attempt.id },
      'RUN_ACTIVE',
    );
  }
  if (status === 'done') {
    throw conflict('The task is done.', { ...busy, status });
  }
}

/** Tasks that sessions outside of the board do: they start one, do it, and report its end (specification 1, Mount list). */
export function automationRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  for (const [name, operationId, summary, matches] of [
    ['pending', 'listPendingAutomation', 'List automation tasks that wait for a session', isPending],
    ['running', 'listRunningAutomation', 'List automation tasks that a session has started', isRunning],
  ] as const) {
    routes.add(
      {
        tag,
        permission: 'task:read',
        method: 'get',
        path: `/automation/${name}`,
        operationId,
        summary,
        query: z.strictObject(listPage(100, 1_000)),
        response: z.array(task),
      },
      async ({ query }) => {
        const { tasks } = board.list({ type: [automationType] });
        return slicePage(tasks.filter(matches), query, { positionOf: ({ id, createdAt }) => ({ key: createdAt, id }) });
      },
    );
  }

  routes.add(
    {
      ...write,
      path: '/automation/:taskId/start',
      operationId: 'startAutomation',
      summary: 'Start an automation task as a session outside of the board',
      params,
      body: automationStart,
      response: automationStarted,
      errors: [404, 409],
      audit: ({ params: { taskId: resource } }, { attemptId }) => ({
        action: 'automation.start',
        resource,
        details: { attemptId },
      }),
    },
    async (request, ctx) => {
      const { sessionKey } = request.body;
      const attemptId = newItemId('automation');
      const automation: TaskAutomation = {
        id: attemptId,
        ...compact({ sessionKey }),
        startedBy: request.auth.actor,
        spawnedAt: operationTime().toISOString(),
        status: 'running',
      };
      const started = await changeTask(request, ctx, (current) => {
        assertAutomation(current);
        if (current.automation?.id === attemptId) {
          return {};
        }
        assertStartable(current);
        return { automation, status: 'in-progress', blockedReason: undefined };
      });
      const { id, title, description, project } = started;
      return { taskId: id, attemptId, title, description, ...compact({ project }), automation };
    },
  );

  routes.add(
    {
      ...write,
      path: '/automation/:taskId/complete',
      operationId: 'completeAutomation',
      summary: 'Complete a started automation task, or report that it failed',
      params,
      body: automationCompletion,
      response: automationCompleted,
      errors: [404, 409],
      audit: ({ params: { taskId: resource } }, { automation }) => ({
        action: 'automation.complete',
        resource,
        details: { attemptId: automation.id, status: automation.status },
      }),
    },
    async (request, ctx) => {
      const { status, result, attemptId } = request.body;
      const completedAt = operationTime().toISOString();
      const changed = await changeTask(request, ctx, (current) => {
        assertAutomation(current);
        const { automation } = current;
        if (automation?.status === status && automation.completedAt === completedAt) {
          return {};
        }
        if (!automation || !isRunning(current) || (attemptId !== undefined && attemptId !== automation.id)) {
          throw conflict(
            attemptId === undefined ? 'The task is not started.' : `${attemptId} has the task no longer.`,
            { resourceType: 'task', resourceId: current.id, currentRevision: current.revision, automation },
            'AUTOMATION_NOT_RUNNING',
          );
        }
        const ended = { automation: { ...automation, status, completedAt, ...compact({ result }) } };
        if (status === 'complete') {
          return { ...ended, status: 'done' };
        }
        const note = (result ?? 'The automation failed.').slice(0, maxReason);
        return { ...ended, status: 'blocked', blockedReason: { category: 'technical-snag', note } };
      });
      if (!changed.automation) {
        throw conflict('The task is not started.', { resourceType: 'task', resourceId: changed.id });
      }
      return { taskId: changed.id, status: changed.status, automation: changed.automation };
    },
  );
}
