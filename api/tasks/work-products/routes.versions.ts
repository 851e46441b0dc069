import { z } from 'zod';
import {
  workProductContent,
  workProductExportQuery,
  workProductParams,
  workProductRestore,
  workProductVersion,
  workProductVersionContent,
  workProductVersionParams,
  workProductVersionsQuery,
} from '../../../contracts/tasks/work-product';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import type { WorkProductRecord } from '../../../stores/tasks/work-product-store';
import type { ApiContext } from '../../context';
import { withRevision } from '../../revisions';
import { changeProduct, restored, type } from './change';
import { exportVersion } from './export';
import { contentOf, newestOf, presentVersion, resource, versionOf, withContent } from './present';

const tag = 'work-products';
const path = '/work-products/:id';
const read = { method: 'get' as const, tag, permission: 'work_product:read' };

/** The versions of a work product's content. */
export function workProductVersionRoutes(routes: Routes, { workProducts }: Pick<ApiContext, 'workProducts'>): void {
  async function find(id: string): Promise<WorkProductRecord> {
    const record = await workProducts.get(id);
    assertFound(record, resource, id);
    return record;
  }

  routes.add(
    {
      ...read,
      path: `${path}/versions`,
      operationId: 'listWorkProductVersions',
      summary: 'List versions of a work product without their content, newest first',
      params: workProductParams,
      query: workProductVersionsQuery,
      response: z.array(workProductVersion),
      errors: [404],
    },
    async ({ params: { id }, query }) =>
      slicePage((await find(id)).versions, query, {
        positionOf: ({ version }) => ({ key: version, id: String(version) }),
        direction: -1,
      }).map(presentVersion),
  );

  routes.add(
    {
      ...read,
      path: `${path}/versions/:version`,
      operationId: 'getWorkProductVersion',
      summary: 'Read a version of a work product with its content',
      params: workProductVersionParams,
      response: workProductVersionContent,
      errors: [404, 410],
    },
    async ({ params: { id, version: number } }) => {
      const record = await find(id);
      const version = versionOf(record, number);
      return { ...presentVersion(version), content: await contentOf(workProducts, record, version) };
    },
  );

  routes.add(
    {
      method: 'post',
      tag,
      permission: 'work_product:write',
      path: `${path}/restore`,
      operationId: 'restoreWorkProduct',
      summary: 'Restore a version of a work product as its newest one',
      params: workProductParams,
      body: workProductRestore,
      response: workProductContent,
      errors: [404, 409, 410],
      audit: ({ params: { id }, body }, { version }) => ({
        action: 'work-product.restore',
        resource: id,
        details: { from: body.version, version },
      }),
    },
    async ({ params: { id }, body, header, auth }, ctx) => {
      const { expectedRevision: bodyRevision, ...asked } = body;
      const writing = { id, stated: { header, ...compact({ bodyRevision }) }, actor: auth.actor };
      const record = await changeProduct(workProducts, writing, (current) => restored(workProducts, current, asked));
      withRevision(ctx, type, { id, revision: record.revision });
      return withContent(workProducts, record);
    },
  );

  routes.add(
    {
      ...read,
      path: `${path}/export`,
      operationId: 'exportWorkProduct',
      summary: 'Download a version of a work product as a file, the newest by default',
      params: workProductParams,
      query: workProductExportQuery,
      // A version in JSON is whatever its author wrote.
      response: z.unknown(),
      otherMediaTypes: ['text/markdown', 'text/plain', 'text/csv', 'text/html', 'application/yaml', 'text/x-diff'],
      errors: [404, 410],
    },
    async ({ params: { id }, query }, ctx) => {
      const record = await find(id);
      const version = query.version === undefined ? newestOf(record) : versionOf(record, query.version);
      const { title } = record;
      return exportVersion(ctx, { title, version }, () => contentOf(workProducts, record, version));
    },
  );
}
