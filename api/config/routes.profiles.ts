import { z } from 'zod';
import { slug } from '../../contracts/common';
import { profile, profileList, profileWrite } from '../../contracts/profile';
import { listPage } from '../../contracts/query';
import { assertFound, notFound } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import type { ApiContext } from '../context';
import { refuseCredentials } from './credentials';
import { statedRevision, withRevision } from './revisions';

const tag = 'config';
const byId = z.strictObject({ id: slug });
const listQuery = z.strictObject(listPage(1000, 1000));

/** Ways to run an agent, which launches name with `profileId`. */
export function profileRoutes(routes: Routes, { profiles }: Pick<ApiContext, 'profiles'>): void {
  routes.add(
    {
      method: 'get',
      path: '/config/profiles',
      operationId: 'listProfiles',
      summary: 'List the profiles',
      tag,
      permission: 'settings:read',
      query: listQuery,
      response: profileList,
    },
    async ({ query }) => {
      const page = slicePage(await profiles.list(), query, ({ id }) => ({ key: id, id }));
      return page.answer({ profiles: page.items });
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/config/profiles/:id',
      operationId: 'getProfile',
      summary: 'Read one profile',
      tag,
      permission: 'settings:read',
      params: byId,
      response: profile,
    },
    async ({ params }, ctx: HttpContext) => {
      const found = await profiles.get(params.id);
      assertFound(found, 'profile', params.id);
      return withRevision(ctx, 'profiles', found);
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/config/profiles/:id',
      operationId: 'putProfile',
      summary: 'Create a profile or write over it; runs that were launched keep the one they were launched with',
      tag,
      permission: 'settings:write',
      params: byId,
      body: profileWrite,
      response: profile,
      errors: [409],
      audit: ({ params }) => ({ action: 'profile.update', resource: params.id }),
    },
    async ({ params, body, header }, ctx: HttpContext) => {
      refuseCredentials(body);
      const expected = await statedRevision('profiles', params.id, header, profiles);
      return withRevision(ctx, 'profiles', await profiles.put(params.id, body, expected));
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/config/profiles/:id',
      operationId: 'removeProfile',
      summary: 'Forget a profile',
      tag,
      permission: 'settings:write',
      params: byId,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params }) => ({ action: 'profile.delete', resource: params.id }),
    },
    async ({ params, header }) => {
      const expected = await statedRevision('profiles', params.id, header, profiles);
      if (!(await profiles.remove(params.id, expected))) throw notFound('profile', params.id);
      return undefined;
    },
  );
}
