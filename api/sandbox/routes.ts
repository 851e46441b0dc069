import { z } from 'zod';
import { slug } from '../../contracts/common';
import { listPage } from '../../contracts/query';
import { sandboxPreset, sandboxPresetCreate, sandboxPresetList, sandboxPresetUpdate } from '../../contracts/sandbox';
import { assertFound, conflict, notFound, validationError } from '../../platform/errors/app-error';
import type { HttpContext } from '../../platform/http/context';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import { StaleRevisionError } from '../../stores/errors';
import { statedRevision, withRevision } from '../config/revisions';
import type { ApiContext } from '../context';

const tag = 'sandbox';
const byId = z.strictObject({ id: slug });
const listQuery = z.strictObject(listPage(1000, 1000));
const type = 'sandbox-presets';

/** What runs may reach, as presets that launches name with `sandboxPresetId` (specification 2, Policies). */
export function sandboxRoutes(routes: Routes, { sandboxes }: Pick<ApiContext, 'sandboxes'>): void {
  routes.add(
    {
      method: 'get',
      path: '/sandbox-policies',
      operationId: 'listSandboxPresets',
      summary: 'List the sandbox presets',
      tag,
      permission: 'policy:read',
      query: listQuery,
      response: sandboxPresetList,
    },
    async ({ query }) => {
      const page = slicePage(await sandboxes.list(), query, ({ id }) => ({ key: id, id }));
      return page.answer({ presets: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/sandbox-policies',
      operationId: 'createSandboxPreset',
      summary: 'Create a sandbox preset',
      tag,
      permission: 'policy:write',
      body: sandboxPresetCreate,
      response: sandboxPreset,
      status: 201,
      errors: [409],
      audit: (_request, { id }) => ({ action: 'sandbox-preset.create', resource: id }),
    },
    async ({ body }, ctx: HttpContext) => {
      const { id = idFrom(body.name), ...fields } = body;
      try {
        return withRevision(ctx, type, await sandboxes.create(id, fields));
      } catch (error) {
        if (!(error instanceof StaleRevisionError)) throw error;
        const current = await sandboxes.get(id);
        throw conflict(`A sandbox preset has the id ${id}.`, { resourceType: type, resourceId: id, id, current });
      }
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/sandbox-policies/:id',
      operationId: 'getSandboxPreset',
      summary: 'Read one sandbox preset',
      tag,
      permission: 'policy:read',
      params: byId,
      response: sandboxPreset,
    },
    async ({ params }, ctx: HttpContext) => {
      const found = await sandboxes.get(params.id);
      assertFound(found, 'sandbox preset', params.id);
      return withRevision(ctx, type, found);
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/sandbox-policies/:id',
      operationId: 'putSandboxPreset',
      summary: 'Write over a sandbox preset; runs that were launched keep the one they were launched with',
      tag,
      permission: 'policy:write',
      params: byId,
      body: sandboxPresetUpdate,
      response: sandboxPreset,
      errors: [409],
      audit: ({ params }) => ({ action: 'sandbox-preset.update', resource: params.id }),
    },
    async ({ params, body, header }, ctx: HttpContext) => {
      const expected = await statedRevision(type, params.id, header, sandboxes);
      const known = await sandboxes.get(params.id);
      assertFound(known, 'sandbox preset', params.id);
      return withRevision(ctx, type, await sandboxes.put(params.id, body, expected ?? known.revision));
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/sandbox-policies/:id',
      operationId: 'removeSandboxPreset',
      summary: 'Forget a sandbox preset',
      tag,
      permission: 'policy:write',
      params: byId,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params }) => ({ action: 'sandbox-preset.delete', resource: params.id }),
    },
    async ({ params, header }) => {
      const expected = await statedRevision(type, params.id, header, sandboxes);
      if (!(await sandboxes.remove(params.id, expected))) throw notFound('sandbox preset', params.id);
      return undefined;
    },
  );
}

/** A readable id from a name. @throws AppError 400 when the name has nothing to make one of */
function idFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '');
  if (id !== '') return id;
  throw validationError([{ path: 'id', message: 'is needed: the name has no letters or digits to make one of' }]);
}
