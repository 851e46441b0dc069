import { z } from 'zod';
import {
  type SharedResource,
  sharedResource,
  sharedResourceCreate,
  type SharedResourceFields,
  sharedResourceId,
  sharedResourceLimit,
  sharedResourceMount,
  sharedResourcePatch,
  type SharedResourceQuery,
  sharedResourceQuery,
} from '../../../contracts/knowledge/shared-resource';
import { conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertInstallable, type InstallContext } from '../skills/install';

const tag = 'shared-resources';
const idParams = z.strictObject({ id: sharedResourceId });
const write = { tag, permission: 'settings:write', errors: [409] };

/** Limit of the projects that one resource is mounted in. */
const maxProjects = 200;

/** The texts of a resource in a request. */
interface Texts {
  name?: string | undefined;
  tags?: string[] | undefined;
}

/** Names and tags without HTML. @throws AppError 400 when one is empty then */
const plainTexts = ({ name, tags }: Texts) => ({
  ...(name !== undefined && { name: plainField(name, 'name') }),
  ...(tags && { tags: [...new Set(tags.map((one, index) => plainField(one, `tags.${index}`)))] }),
});

const isAsked = (one: SharedResource, { type, project, tag: requestedTag, name }: SharedResourceQuery): boolean =>
  (type === undefined || one.type === type) &&
  (project === undefined || one.projectIds.includes(project)) &&
  (requestedTag === undefined || one.tags.includes(requestedTag)) &&
  (name === undefined || one.name.toLowerCase().includes(name.toLowerCase()));

/** Prompts, guidelines, skills and the like that several projects use (specification 1, Registries and analysis). */
export function sharedResourceRoutes(routes: Routes, context: InstallContext): void {
  const { sharedResources: records } = context;
  const sharedResources = recordRoutes(routes, {
    records,
    resource: 'shared resource',
    type: tag,
    path: '/shared-resources',
    id: 'id',
    params: idParams,
    response: sharedResource,
    permissions: { read: 'settings:read', write: write.permission },
    max: sharedResourceLimit,
    present: (resource) => resource,
  });

  sharedResources.list(
    {
      operationId: 'listSharedResources',
      summary: 'List shared resources by type, project, tag and name, most recently updated first',
      query: sharedResourceQuery,
      response: z.array(sharedResource),
    },
    (all, query) => {
      const matching = all.filter((one) => isAsked(one, query));
      return slicePage(matching, query, { positionOf: ({ updatedAt, id }) => ({ key: updatedAt, id }), direction: -1 });
    },
  );

  sharedResources.create(
    {
      operationId: 'createSharedResource',
      summary: 'Create a shared resource',
      body: sharedResourceCreate,
      audit: {
        action: 'shared-resource.create',
        details: (_body, { name, type, projectIds }) => ({ name, type, projectIds }),
      },
    },
    async ({ type, content, projectIds, mountedIn, name, tags }) => {
      const texts = { name: plainField(name, 'name'), tags: plainTexts({ tags }).tags ?? [] };
      const mounted = [...new Set(projectIds ?? mountedIn)];
      const [id, fields] = [newItemId('resource'), { ...texts, type, content, projectIds: mounted }];
      await assertInstallable(context, { id, ...fields });
      return { id, fields };
    },
  );

  sharedResources.get({ operationId: 'getSharedResource', summary: 'Read a shared resource' });

  sharedResources.patch(
    {
      operationId: 'changeSharedResource',
      summary: 'Update a shared resource; each field is replaced as a whole',
      body: sharedResourcePatch,
      audit: { action: 'shared-resource.update', details: (body) => ({ fields: Object.keys(body) }) },
    },
    async (patch, id) => {
      const { type, content } = patch;
      const texts = plainTexts(patch);
      const cleared = 'tags' in patch && patch.tags === undefined ? { tags: [] } : {};
      const fields = { ...(type && { type }), ...compact({ content }) };
      const changed = (current: SharedResourceFields) => ({ ...current, ...fields, ...cleared, ...texts });
      const seen = await records.get(id);
      const judged = seen && (await assertInstallable(context, { ...changed(seen), id }));
      return (current) => {
        const next = changed(current);
        judged?.assertUnchanged(next);
        return next;
      };
    },
  );

  sharedResources.remove({
    operationId: 'deleteSharedResource',
    summary: 'Delete a shared resource and its mounts',
    audit: { action: 'shared-resource.delete' },
  });

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/shared-resources/:id/mount',
      operationId: 'mountSharedResource',
      summary: 'Mount a shared resource in more projects',
      params: idParams,
      body: sharedResourceMount,
      response: sharedResource,
      audit: ({ params, body }, { projectIds }) => ({
        action: 'shared-resource.mount',
        resource: params.id,
        details: { added: body.projectIds ?? body.mountedIn, projectIds },
      }),
    },
    async ({ params: { id }, body: { projectIds, mountedIn }, header }, ctx) => {
      const added = projectIds ?? mountedIn ?? [];
      const seen = await records.get(id);
      const judged = seen && (await assertInstallable(context, { ...seen, projectIds: added }));
      return sharedResources.change(ctx, { id, header }, (current) => {
        const mounted = [...new Set([...current.projectIds, ...added])];
        if (mounted.length > maxProjects) {
          throw conflict(`A shared resource can be mounted in at most ${maxProjects} projects.`, { resourceId: id });
        }
        const next = { ...current, projectIds: mounted };
        judged?.assertUnchanged(next);
        return next;
      });
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/shared-resources/:id/unmount',
      operationId: 'unmountSharedResource',
      summary: 'Unmount a shared resource from projects; others are ignored',
      params: idParams,
      body: sharedResourceMount,
      response: sharedResource,
      audit: ({ params, body }, { projectIds }) => ({
        action: 'shared-resource.unmount',
        resource: params.id,
        details: { removed: body.projectIds ?? body.mountedIn, projectIds },
      }),
    },
    async ({ params: { id }, body: { projectIds, mountedIn }, header }, ctx) => {
      const removed = new Set(projectIds ?? mountedIn);
      return sharedResources.change(ctx, { id, header }, (current) => ({
        ...current,
        projectIds: current.projectIds.filter((project) => !removed.has(project)),
      }));
    },
  );
}
