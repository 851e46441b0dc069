import { z } from 'zod';
import { activity as activityEntry, activityFilters, activityQuery } from '../../contracts/activity';
import { listPage } from '../../contracts/query';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';

const filterQuery = z.strictObject(listPage(500, 500));
const read = { tag: 'activity', method: 'get' as const, permission: 'telemetry:read' };

/** What was done on the board, and who did it (specification 1, Mount list). */
export function activityRoutes(routes: Routes, { activity }: Pick<ApiContext, 'activity'>): void {
  routes.add(
    {
      ...read,
      path: '/activity',
      operationId: 'listActivity',
      summary: 'List what was done to tasks, the newest first',
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
      summary: 'List the agents and the types there are to filter by',
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
      summary: 'Forget all activity; the audit log stays',
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
