import { z } from 'zod';
import { activity as activityEntry, activityFilters, activityQuery } from '../../../contracts/chat/activity';
import { listPage } from '../../../contracts/query';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

const filterQuery = z.strictObject(listPage(500, 500));
const read = { tag: 'activity', method: 'get' as const, permission: 'telemetry:read' };

/** The activities on the board, with their actors (specification 1, Mount list). */
export function activityRoutes(routes: Routes, { activity }: Pick<ApiContext, 'activity'>): void {
  routes.add(
    {
      ...read,
      path: '/activity',
      operationId: 'listActivity',
      summary: 'List task activity, newest first',
      query: activityQuery,
      response: z.array(activityEntry),
    },
    ({ query }) => activity.list(query),
  );

  routes.add(
    {
      ...read,
      path: '/activity/filters',
      operationId: 'listActivityFilters',
      summary: 'List agents and activity types for filters',
      query: filterQuery,
      response: activityFilters,
    },
    ({ query }) => activity.filters(query),
  );

  routes.add(
    {
      tag: read.tag,
      method: 'delete',
      path: '/activity',
      operationId: 'clearActivity',
      summary: 'Delete all activity; the audit log remains',
      permission: 'admin:manage',
      response: z.undefined(),
      status: 204,
      audit: () => ({ action: 'activity.clear' }),
    },
    async () => {
      await activity.clear();
      return undefined;
    },
  );
}
