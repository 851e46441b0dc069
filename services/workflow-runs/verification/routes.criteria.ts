import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { usePermission } from '../http/auth';
import { pathPart, requireFound, slug } from '../http/fields';
import { pageFrom, pageOf, pageQuery } from '../http/pages';
import type { Criterion, VerificationCatalog } from './catalog';
import { presentCriterion } from './present';
import type { ResultStore } from './result-store';
import { criterion, criterionInput } from './shapes';

const common = { mount: 'root' as const, tag: 'verification', permission: usePermission };
const bySlug = z.object({ slug: pathPart });

/** The questions that are asked of every run. */
export function criteriaRoutes(routes: Routes, catalog: VerificationCatalog, results: ResultStore): void {
  async function present(of: Criterion) {
    const controls = (await catalog.controls()).filter((control) => control.criterion === of.slug);
    const evaluated = controls.map(async (control) => ({
      control,
      evaluations: await results.ofControl(control.slug),
    }));
    return presentCriterion(of, await Promise.all(evaluated));
  }

  routes.add(
    {
      ...common,
      method: 'get',
      path: '/verification/criteria',
      operationId: 'listVerificationCriteria',
      summary: 'List criteria with their controls',
      query: pageQuery,
      response: pageOf(criterion),
    },
    async ({ query }) => {
      const { data, meta } = await pageFrom(await catalog.criteria(), query);
      return { data: await Promise.all(data.map(present)), meta };
    },
  );
  routes.add(
    {
      ...common,
      method: 'get',
      path: '/verification/criteria/:slug',
      operationId: 'getVerificationCriterion',
      summary: 'Read a criterion with its controls',
      params: bySlug,
      response: criterion,
    },
    async ({ params }) => present(requireFound(await catalog.criterion(params.slug), 'Criterion')),
  );
  routes.add(
    {
      ...common,
      method: 'put',
      path: '/verification/criteria/:slug',
      operationId: 'putVerificationCriterion',
      summary: 'Create or replace a criterion',
      params: z.object({ slug }),
      body: criterionInput,
      response: criterion,
      errors: [409],
    },
    async ({ params, body }) => {
      await catalog.putCriterion(params.slug, body);
      return present({ ...body, slug: params.slug });
    },
  );
  routes.add(
    {
      ...common,
      method: 'delete',
      path: '/verification/criteria/:slug',
      operationId: 'deleteVerificationCriterion',
      summary: 'Delete a criterion without controls',
      params: bySlug,
      response: z.undefined(),
      status: 204,
      errors: [409],
    },
    async ({ params }) => {
      requireFound((await catalog.removeCriterion(params.slug)) || undefined, 'Criterion');
      return undefined;
    },
  );
}
