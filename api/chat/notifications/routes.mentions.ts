import { z } from 'zod';
import { mentionText, notification, taskSubscription } from '../../../contracts/chat/notification';
import { taskId } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import type { Task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';
import { plainField } from '../../tasks/tasks/plain-text';
import { mentionsIn } from './mentions';
import { subscriptionsOf } from './subscriptions';

const tag = 'notifications';
const subscriptionQuery = z.strictObject(listPage(1000, 1000));

/** The subscribers of a task, and texts that mention people (specification 1, Mount list). */
export function mentionRoutes(routes: Routes, context: Pick<ApiContext, 'board' | 'notifications' | 'rules'>): void {
  const { board, notifications } = context;
  async function find(id: string): Promise<Task> {
    const task = await board.get(id);
    assertFound(task, 'task', id);
    return task.task;
  }

  routes.add(
    {
      tag,
      method: 'get',
      path: '/notifications/subscriptions/:taskId',
      operationId: 'listTaskSubscriptions',
      summary: 'List subscribers of a task: assigned, commented or mentioned agents',
      permission: 'agent:read',
      params: z.strictObject({ taskId }),
      query: subscriptionQuery,
      response: z.array(taskSubscription),
      errors: [409],
    },
    async ({ params, query }) =>
      slicePage(subscriptionsOf(await find(params.taskId)), query, {
        positionOf: ({ agent }) => ({ key: agent, id: agent }),
      }),
  );

  routes.add(
    {
      tag,
      method: 'post',
      path: '/notifications/process',
      operationId: 'processMentions',
      summary: 'Notify every agent a text mentions; @all notifies allAgents',
      permission: 'comment:write',
      body: mentionText,
      response: z.array(notification),
      status: 201,
      errors: [404, 409],
    },
    async ({ body, auth }) => {
      const { id, title } = await find(body.taskId);
      const fromAgent = plainField(body.fromAgent ?? auth.tokenName, 'fromAgent');
      const content = plainField(body.content, 'content');
      const called = mentionsIn(content).flatMap(({ target }) =>
        target === 'all' ? (body.allAgents ?? []) : [target],
      );
      const targets = [...new Set(called)].filter((target) => target !== fromAgent);
      const asked = { taskId: id, actor: auth.actor, also: ['notification'], subject: { targets, content } };
      await assertAllowed(context, 'external-message', asked);
      return Promise.all(
        targets.map((targetAgent) =>
          notifications.add({ type: 'mention', targetAgent, fromAgent, content, taskId: id, taskTitle: title }),
        ),
      );
    },
  );
}
