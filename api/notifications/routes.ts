import { z } from 'zod';
import {
  deliveredAll,
  notification,
  notificationCreate,
  notificationIds,
  notificationQuery,
  notificationStats,
  notificationsDone,
  pendingNotifications,
} from '../../contracts/notification';
import { listPage } from '../../contracts/query';
import { assertFound } from '../../platform/errors/app-error';
import { authorize } from '../../platform/http/authorize';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import type { ApiContext } from '../context';
import { plainField } from '../tasks/plain-text';

const tag = 'notifications';
const admin = { tag, permission: 'admin:manage' };
const writes = { tag, method: 'post' as const, permission: 'comment:write' };

/** What is handed over at a time to whoever sends it on. */
const pendingQuery = z.strictObject(listPage(500, 500));

/** What agents and operators are to know (specification 1, Mount list). */
export function notificationRoutes(routes: Routes, { notifications }: Pick<ApiContext, 'notifications'>): void {
  routes.add(
    {
      ...admin,
      method: 'post',
      path: '/notifications',
      operationId: 'createNotification',
      summary: 'Notify an agent, or whoever runs the board; with a dedupeKey, once',
      body: notificationCreate,
      response: notification,
      status: 201,
    },
    ({ body: { message, source, title, taskTitle, ...rest }, auth }) =>
      notifications.add(
        withoutUndefined({
          ...rest,
          content: plainField(message, 'message'),
          title: title === undefined ? undefined : plainField(title, 'title'),
          taskTitle: taskTitle === undefined ? undefined : plainField(taskTitle, 'taskTitle'),
          fromAgent: plainField(source ?? auth.tokenName, 'source'),
        }),
      ),
  );

  routes.add(
    {
      tag,
      method: 'get',
      path: '/notifications',
      operationId: 'listNotifications',
      summary: 'List the notifications of an agent, the newest first; without agent those of all, for administrators',
      permission: 'agent:read',
      query: notificationQuery,
      response: z.array(notification),
    },
    async ({ query, auth }, ctx) => {
      if (query.agent === undefined) authorize(auth, 'admin:manage', ctx.method);
      return notifications.list(query);
    },
  );

  routes.add(
    {
      ...admin,
      method: 'get',
      path: '/notifications/pending',
      operationId: 'listPendingNotifications',
      summary: 'List what is for no agent and was not sent yet, the oldest first, for whoever sends it on',
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
      summary: 'Say that notifications were sent; count says how many of them were not before',
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
      summary: 'Forget all notifications',
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
      summary: 'Count the notifications, by type and by whether they were delivered',
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
      summary: 'Look for what is to be notified: nothing, since every change notifies by itself',
      response: z.object({ checked: z.literal(0), created: z.literal(0) }),
    },
    async () => ({ checked: 0 as const, created: 0 as const }),
  );

  routes.add(
    {
      ...writes,
      path: '/notifications/delivered-all',
      operationId: 'markAllNotificationsDelivered',
      summary: 'Say that an agent has all its notifications',
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
      summary: 'Say that a notification has arrived',
      params: z.strictObject({ id: z.string().max(64) }),
      response: notification,
    },
    async ({ params: { id } }) => {
      await notifications.markDelivered([id]);
      const found = await notifications.get(id);
      assertFound(found, 'notification', id);
      return found;
    },
  );
}
