import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { usePermission } from '../http/auth';
import { pathPart, requireFound, slug } from '../http/fields';
import { pageFrom, pageOf, pageQuery } from '../http/pages';
import type { Control, VerificationCatalog } from './catalog';
import { presentControl, presentControlDetail } from './present';
import type { ResultStore } from './result-store';
import { controlDetail, controlInput, controlItem } from './shapes';

const common = { mount: 'root' as const, tag: 'verification', permission: usePermission };
const bySlug = z.object({ slug: pathPart });

/** The ways in which the questions of criteria are answered. */
export function controlRoutes(routes: Routes, catalog: VerificationCatalog, results: ResultStore): void {
  async function present(control: Control) {
    const all = { criteria: await catalog.criteria(), controls: await catalog.controls() };
    return presentControlDetail(control, all, await results.ofControl(control.slug));
  }

  routes.add(
    {
      ...common,
      method: 'get',
      path: '/verification/controls',
      operationId: 'listVerificationControls',
      summary: 'List controls',
      query: pageQuery,
      response: pageOf(controlItem),
    },
    async ({ query }) => {
      const criteria = await catalog.criteria();
      const { data, meta } = await pageFrom(await catalog.controls(), query);
      const items = data.map(async (control) =>
        presentControl(control, criteria, await results.ofControl(control.slug)),
      );
      return { data: await Promise.all(items), meta };
    },
  );
  routes.add(
    {
      ...common,
      method: 'get',
      path: '/verification/controls/:slug',
      operationId: 'getVerificationControl',
      summary: 'Read a control with its performance and latest result',
      params: bySlug,
      response: controlDetail,
    },
    async ({ params }) => present(requireFound(await catalog.control(params.slug), 'Control')),
  );
  routes.add(
    {
      ...common,
      method: 'put',
      path: '/verification/controls/:slug',
      operationId: 'putVerificationControl',
      summary: 'Create or replace a control',
      params: z.object({ slug }),
      body: controlInput,
      response: controlDetail,
      errors: [409],
    },
    async ({ params, body }) => {
      await catalog.putControl(params.slug, body);
      return present({ ...body, slug: params.slug });
    },
  );
  routes.add(
    {
      ...common,
      method: 'delete',
      path: '/verification/controls/:slug',
      operationId: 'deleteVerificationControl',
      summary: 'Delete a control; its results and signoffs remain',
      params: bySlug,
      response: z.undefined(),
      status: 204,
    },
    async ({ params }) => {
      requireFound((await catalog.removeControl(params.slug)) || undefined, 'Control');
      return undefined;
    },
  );
}
