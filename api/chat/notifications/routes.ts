import { z } from 'zod';
import {
  deliveredAll,
  notification,
  notificationCreate,
  notificationIds,
  notificationQuery,
  notificationsDone,
  notificationStats,
  pendingNotifications,
} from '../../../contracts/chat/notification';
import { listPage } from '../../../contracts/query';
import { assertFound } from '../../../platform/errors/app-error';
import { authorize } from '../../../platform/http/auth/authorize';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';
import { plainField } from '../../tasks/tasks/plain-text';

const tag = 'notifications';
const admin = { tag, permission: 'admin:manage' };
const writes = { tag, method: 'post' as const, permission: 'comment:write' };

/** The batch for a client that forwards notifications. */
const pendingQuery = z.strictObject(listPage(500, 500));

/** What agents and operators are to know (specification 1, Mount list). */
export function notificationRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'board' | 'notifications' | 'rules'>,
): void {
  const { notifications } = context;
  routes.add(
    {
      ...admin,
      method: 'post',
      path: '/notifications',
      operationId: 'createNotification',
      summary: 'Notify an agent or the administrators; a dedupeKey notifies once',
      body: notificationCreate,
      response: notification,
      status: 201,
    },
    async ({ body: { message, source, title, taskTitle, ...rest }, auth: { actor, tokenName } }) => {
      const fields = compact({
        ...rest,
        content: plainField(message, 'message'),
        title: title === undefined ? undefined : plainField(title, 'title'),
        taskTitle: taskTitle === undefined ? undefined : plainField(taskTitle, 'taskTitle'),
        fromAgent: plainField(source ?? tokenName, 'source'),
      });
      const { taskId } = rest;
      await assertAllowed(context, 'external-message', { taskId, actor, also: ['notification'], subject: fields });
      return notifications.add(fields);
    },
  );

  routes.add(
    {
      tag,
      method: 'get',
      path: '/notifications',
      operationId: 'listNotifications',
      summary: 'List notifications of an agent, newest first; without agent all of them, for administrators',
      permission: 'agent:read',
      query: notificationQuery,
      response: z.array(notification),
    },
    async ({ query, auth }, ctx) => {
      if (query.agent === undefined) {
        authorize(auth, 'admin:manage', { method: ctx.method });
      }
      return notifications.list(query);
    },
  );

  routes.add(
    {
      ...admin,
      method: 'get',
      path: '/notifications/pending',
      operationId: 'listPendingNotifications',
      summary: 'List unsent notifications for administrators, oldest first',
      query: pendingQuery,
      response: pendingNotifications,
    },
    async ({ query }) => {
      const page = await notifications.pending(query);
      const messages = page.items.map(({ id, type, content, createdAt }) => ({
        id,
        type,
        text: content,
        timestamp: createdAt,
      }));
      return page.answer({ count: messages.length, messages });
    },
  );

  routes.add(
    {
      ...admin,
      method: 'post',
      path: '/notifications/mark-sent',
      operationId: 'markNotificationsSent',
      summary: 'Mark notifications as sent; count is the number newly marked',
      body: notificationIds,
      response: notificationsDone,
    },
    async ({ body }) => ({ success: true as const, count: await notifications.markDelivered(body.ids) }),
  );

  routes.add(
    {
      ...admin,
      method: 'delete',
      path: '/notifications',
      operationId: 'clearNotifications',
      summary: 'Delete all notifications',
      response: z.undefined(),
      status: 204,
      audit: () => ({ action: 'notifications.clear' }),
    },
    async () => {
      await notifications.clear();
      return undefined;
    },
  );

  routes.add(
    {
      tag,
      method: 'get',
      path: '/notifications/stats',
      operationId: 'countNotifications',
      summary: 'Count notifications by type and delivery',
      permission: 'agent:read',
      response: notificationStats,
    },
    () => notifications.stats(),
  );

  routes.add(
    {
      ...writes,
      path: '/notifications/check',
      operationId: 'checkNotifications',
      summary: 'Check for pending notifications; always none, since changes notify directly',
      response: z.object({ checked: z.literal(0), created: z.literal(0) }),
    },
    async () => ({ checked: 0 as const, created: 0 as const }),
  );

  routes.add(
    {
      ...writes,
      path: '/notifications/delivered-all',
      operationId: 'markAllNotificationsDelivered',
      summary: 'Mark all notifications of an agent as delivered',
      body: deliveredAll,
      response: notificationsDone,
    },
    async ({ body }) => ({ success: true as const, count: await notifications.markAllDelivered(body.agent) }),
  );

  routes.add(
    {
      ...writes,
      path: '/notifications/:id/delivered',
      operationId: 'markNotificationDelivered',
      summary: 'Mark a notification as delivered',
      params: z.strictObject({ id: z.string().max(64) }),
      response: notification,
    },
    async ({ params: { id } }) => {
      await notifications.markDelivered([id]);
      const stored = await notifications.get(id);
      assertFound(stored, 'notification', id);
      return stored;
    },
  );
}
