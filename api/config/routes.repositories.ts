import { z } from 'zod';
import { slug } from '../../contracts/common';
import { listPage } from '../../contracts/query';
import { repository, repositoryList, repositoryPatch } from '../../contracts/repository';
import { assertFound, notFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import type { ApiContext } from '../context';

const tag = 'config';
const byName = z.strictObject({ name: slug });
const listQuery = z.strictObject(listPage(1000, 1000));

/** The git repositories tasks may name. */
export function repositoryRoutes(routes: Routes, { repositories }: Pick<ApiContext, 'repositories'>): void {
  routes.add(
    {
      method: 'get',
      path: '/config/repos',
      operationId: 'listRepositories',
      summary: 'List the configured repositories',
      tag,
      permission: 'settings:read',
      query: listQuery,
      response: repositoryList,
    },
    async ({ query }) => {
      const page = slicePage(await repositories.list(), query, ({ name }) => ({ key: name, id: name }));
      return page.answer({ repos: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/repos',
      operationId: 'addRepository',
      summary: 'Configure a repository',
      tag,
      permission: 'settings:write',
      body: repository,
      response: repository,
      status: 201,
      errors: [409],
      audit: ({ body }) => ({ action: 'repository.create', resource: body.name }),
    },
    ({ body }) => repositories.add(body),
  );

  routes.add(
    {
      method: 'patch',
      path: '/config/repos/:name',
      operationId: 'changeRepository',
      summary: 'Change fields of a repository',
      tag,
      permission: 'settings:write',
      params: byName,
      body: repositoryPatch,
      response: repository,
      audit: ({ params, body }) => ({
        action: 'repository.update',
        resource: params.name,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params, body }) => {
      const changed = await repositories.change(params.name, body);
      assertFound(changed, 'repository', params.name);
      return changed;
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/config/repos/:name',
      operationId: 'removeRepository',
      summary: 'Forget a repository; its files stay',
      tag,
      permission: 'settings:write',
      params: byName,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'repository.delete', resource: params.name }),
    },
    async ({ params }) => {
      if (!(await repositories.remove(params.name))) throw notFound('repository', params.name);
      return undefined;
    },
  );
}
