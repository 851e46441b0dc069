import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import { profile, profileList, profileWrite } from '../../../contracts/settings/profile';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { refuseCredentials } from './credentials';

const type = 'profiles';
const listQuery = z.strictObject(listPage(1000, 1000));

/** Ways to run an agent, which launches name with `profileId`. */
export function profileRoutes(routes: Routes, { profiles: records }: Pick<ApiContext, 'profiles'>): void {
  const profiles = recordRoutes(routes, {
    records,
    resource: 'profile',
    type,
    resourceType: type,
    path: '/config/profiles',
    id: 'id',
    params: z.strictObject({ id: slug }),
    response: profile,
    tag: 'config',
    permissions: { read: 'settings:read', write: 'settings:write' },
    present: (record) => record,
  });

  profiles.list(
    { operationId: 'listProfiles', summary: 'List profiles', query: listQuery, response: profileList },
    (all, query) => {
      const page = slicePage(all, query, { positionOf: ({ id }) => ({ key: id, id }) });
      return page.answer({ profiles: page.items });
    },
  );

  profiles.get({ operationId: 'getProfile', summary: 'Read a profile' });

  profiles.replace(
    {
      operationId: 'putProfile',
      summary: 'Create or replace a profile; existing runs keep theirs',
      body: profileWrite,
      upsert: true,
      audit: { action: 'profile.update' },
    },
    (fields) => {
      refuseCredentials(fields);
      return fields;
    },
  );

  profiles.remove({
    operationId: 'removeProfile',
    summary: 'Delete a profile',
    audit: { action: 'profile.delete' },
  });
}
