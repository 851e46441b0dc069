import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { usePermission } from '../http/auth';
import { pathPart, requireFound } from '../http/fields';
import { pageOf, pageQuery, readPage } from '../http/pages';
import type { QueryStore } from './query-store';
import { savedQuery, savedQueryInput } from './saved-query';

const common = { mount: 'root' as const, tag: 'insights', permission: usePermission };
const byId = z.object({ id: pathPart });
const what = 'Saved query';

/** Queries that are stored under a name. Whether they can be executed shows when they are. */
export function savedQueryRoutes(routes: Routes, queries: QueryStore, now: () => Date): void {
  routes.add(
    {
      ...common,
      method: 'get',
      path: '/insights/queries',
      operationId: 'listSavedQueries',
      summary: 'List saved queries, newest first',
      query: pageQuery,
      response: pageOf(savedQuery),
    },
    ({ query }) => readPage(query, (part) => queries.list(part)),
  );
  routes.add(
    {
      ...common,
      method: 'post',
      path: '/insights/queries',
      operationId: 'createSavedQuery',
      summary: 'Save a query',
      body: savedQueryInput,
      response: savedQuery,
      status: 201,
    },
    ({ body }) => queries.add(body, now()),
  );
  routes.add(
    {
      ...common,
      method: 'get',
      path: '/insights/queries/:id',
      operationId: 'getSavedQuery',
      summary: 'Read a saved query',
      params: byId,
      response: savedQuery,
    },
    async ({ params }) => requireFound(await queries.get(params.id), what),
  );
  routes.add(
    {
      ...common,
      method: 'put',
      path: '/insights/queries/:id',
      operationId: 'replaceSavedQuery',
      summary: 'Replace a saved query',
      params: byId,
      body: savedQueryInput,
      response: savedQuery,
    },
    async ({ params, body }) => requireFound(await queries.replace(params.id, body, now()), what),
  );
  routes.add(
    {
      ...common,
      method: 'delete',
      path: '/insights/queries/:id',
      operationId: 'deleteSavedQuery',
      summary: 'Delete a saved query',
      params: byId,
      response: z.undefined(),
      status: 204,
    },
    async ({ params }) => {
      requireFound((await queries.remove(params.id)) || undefined, what);
      return undefined;
    },
  );
}
