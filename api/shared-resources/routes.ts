import { z } from 'zod';
import {
  sharedResource,
  sharedResourceCreate,
  sharedResourceId,
  sharedResourceLimit,
  sharedResourceMount,
  sharedResourcePatch,
  sharedResourceQuery,
  type SharedResource,
  type SharedResourceFields,
  type SharedResourceQuery,
} from '../../contracts/shared-resource';
import { assertFound, conflict, notFound } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import { ownFields } from '../../stores/configured-records';
import { assertRevision, withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';

const tag = 'shared-resources';
const byId = z.strictObject({ id: sharedResourceId });
const read = { method: 'get' as const, tag, permission: 'settings:read' };
const write = { tag, permission: 'settings:write', errors: [409] };

/** Projects that one resource is mounted in, at most. */
const mostProjects = 200;

type Headers = (name: string) => string | undefined;

/** What a request may say of the texts of a resource. */
interface Texts {
  name?: string | undefined;
  tags?: string[] | undefined;
}

/** Names and tags without HTML. @throws AppError 400 when nothing is left of one */
const plainTexts = ({ name, tags }: Texts) => ({
  ...(name !== undefined && { name: plainField(name, 'name') }),
  ...(tags && { tags: [...new Set(tags.map((one, index) => plainField(one, `tags.${index}`)))] }),
});

const isAsked = (one: SharedResource, { type, project, tag: wanted, name }: SharedResourceQuery): boolean =>
  (type === undefined || one.type === type) &&
  (project === undefined || one.projectIds.includes(project)) &&
  (wanted === undefined || one.tags.includes(wanted)) &&
  (name === undefined || one.name.toLowerCase().includes(name.toLowerCase()));

/** Prompts, guidelines, skills and the like that several projects use (specification 1, Registries and analysis). */
export function sharedResourceRoutes(routes: Routes, { sharedResources }: Pick<ApiContext, 'sharedResources'>): void {
  async function find(id: string): Promise<SharedResource> {
    const found = await sharedResources.get(id);
    assertFound(found, 'shared resource', id);
    return found;
  }

  const stated = (id: string, header: Headers, bodyRevision?: number): Promise<number | undefined> =>
    expectedRevision(statedRevisions(tag, id, { header, bodyRevision }), async () => (await find(id)).revision);

  /** Changes a resource at the revision its writer states, and answers it with the new one. */
  async function changeAt(
    ctx: HttpContext,
    { id, expected }: { id: string; expected: number | undefined },
    change: (current: SharedResource) => Partial<SharedResourceFields>,
  ): Promise<SharedResource> {
    const changed = await sharedResources.change(id, (current) => {
      assertFound(current, 'shared resource', id);
      assertRevision('shared resource', current, expected);
      return { ...ownFields(current), ...change(current) };
    });
    return withRevision(ctx, tag, changed);
  }

  routes.add(
    {
      ...read,
      path: '/shared-resources',
      operationId: 'listSharedResources',
      summary: 'List shared resources by type, project, tag and name, the last changed first',
      query: sharedResourceQuery,
      response: z.array(sharedResource),
    },
    async ({ query }) => {
      const all = (await sharedResources.list()).filter((one) => isAsked(one, query));
      return slicePage(all, query, ({ updatedAt, id }) => ({ key: updatedAt, id }), { direction: -1 });
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/shared-resources',
      operationId: 'createSharedResource',
      summary: 'Share something with projects',
      body: sharedResourceCreate,
      response: sharedResource,
      status: 201,
    },
    async ({ body: { type, content, projectIds, mountedIn, name, tags } }, ctx) => {
      const texts = { name: plainField(name, 'name'), tags: plainTexts({ tags }).tags ?? [] };
      if ((await sharedResources.list()).length >= sharedResourceLimit)
        throw conflict(`There may be at most ${sharedResourceLimit} shared resources.`, {
          resourceType: 'shared resource',
        });
      const mounted = [...new Set(projectIds ?? mountedIn)];
      const fields = { ...texts, type, content, projectIds: mounted };
      return withRevision(ctx, tag, await sharedResources.create(newItemId('resource'), fields));
    },
  );

  routes.add(
    {
      ...read,
      path: '/shared-resources/:id',
      operationId: 'getSharedResource',
      summary: 'Read one shared resource',
      params: byId,
      response: sharedResource,
    },
    async ({ params }, ctx) => withRevision(ctx, tag, await find(params.id)),
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/shared-resources/:id',
      operationId: 'changeSharedResource',
      summary: 'Change fields of a shared resource, each as a whole',
      params: byId,
      body: sharedResourcePatch,
      response: sharedResource,
    },
    async ({ params: { id }, body, header }, ctx) => {
      const { expectedRevision: bodyRevision, type, content } = body;
      const texts = plainTexts(body);
      const cleared = 'tags' in body && body.tags === undefined ? { tags: [] } : {};
      const given = { ...(type && { type }), ...(content !== undefined && { content }) };
      const expected = await stated(id, header, bodyRevision);
      return changeAt(ctx, { id, expected }, () => ({ ...given, ...cleared, ...texts }));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/shared-resources/:id',
      operationId: 'deleteSharedResource',
      summary: 'Delete a shared resource, wherever it is mounted',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'shared-resource.delete', resource: params.id }),
    },
    async ({ params: { id }, header }) => {
      const expected = await stated(id, header);
      assertRevision('shared resource', await find(id), expected);
      if (!(await sharedResources.remove(id, expected))) throw notFound('shared resource', id);
      return undefined;
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/shared-resources/:id/mount',
      operationId: 'mountSharedResource',
      summary: 'Mount a shared resource in projects; those it is mounted in already stay',
      params: byId,
      body: sharedResourceMount,
      response: sharedResource,
    },
    async ({ params: { id }, body: { projectIds, mountedIn }, header }, ctx) => {
      const added = projectIds ?? mountedIn ?? [];
      return changeAt(ctx, { id, expected: await stated(id, header) }, (current) => {
        const mounted = [...new Set([...current.projectIds, ...added])];
        if (mounted.length > mostProjects)
          throw conflict(`It may be mounted in at most ${mostProjects} projects.`, { resourceId: id });
        return { projectIds: mounted };
      });
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/shared-resources/:id/unmount',
      operationId: 'unmountSharedResource',
      summary: 'Take a shared resource out of projects; those it is not mounted in are passed over',
      params: byId,
      body: sharedResourceMount,
      response: sharedResource,
    },
    async ({ params: { id }, body: { projectIds, mountedIn }, header }, ctx) => {
      const removed = new Set(projectIds ?? mountedIn);
      return changeAt(ctx, { id, expected: await stated(id, header) }, (current) => ({
        projectIds: current.projectIds.filter((project) => !removed.has(project)),
      }));
    },
  );
}
