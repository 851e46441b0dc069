import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { usePermission } from '../http/auth';
import { refuse } from '../http/errors';
import { pathPart, requireFound } from '../http/fields';
import { pageFrom, pageOf, pageQuery } from '../http/pages';
import type { RunStore } from '../runs/store';
import type { VerificationCatalog } from './catalog';
import { presentRunCriterion } from './present';
import type { ResultStore } from './result-store';
import { resultInput, runControl, runCriterion } from './shapes';

const common = { mount: 'root' as const, tag: 'verification', permission: usePermission };

export interface RunVerificationDeps {
  catalog: VerificationCatalog;
  results: ResultStore;
  runs: RunStore;
  now: () => Date;
}

/** What the controls found in a run. */
export function runVerificationRoutes(routes: Routes, { catalog, results, runs, now }: RunVerificationDeps): void {
  routes.add(
    {
      ...common,
      method: 'get',
      path: '/runs/:id/verification',
      operationId: 'listRunVerification',
      summary: 'List criteria with control results of a run',
      params: z.object({ id: pathPart }),
      query: pageQuery,
      response: pageOf(runCriterion),
    },
    async ({ params, query }) => {
      const { _id } = requireFound(await runs.get(params.id), 'Run');
      const controls = await catalog.controls();
      const ofRun = await results.ofRun(_id);
      const { data, meta } = await pageFrom(await catalog.criteria(), query);
      const of = (slug: string) => controls.filter(({ criterion }) => criterion === slug);
      return { data: data.map((each) => presentRunCriterion(each, of(each.slug), ofRun)), meta };
    },
  );
  routes.add(
    {
      ...common,
      method: 'post',
      path: '/runs/:id/verification/:control',
      operationId: 'recordRunVerification',
      summary: 'Record the result of a control for a run',
      params: z.object({ id: pathPart, control: pathPart }),
      body: resultInput,
      response: runControl,
      status: 201,
      errors: [409],
    },
    async ({ params, body, auth }) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      const { name, slug, type, description, mode } = requireFound(await catalog.control(params.control), 'Control');
      if (mode === 'disabled') {
        throw refuse(409, 'Control is disabled.');
      }
      await results.record(run, slug, { result: body, by: auth.userId, at: now().toISOString() });
      return { name, slug, type, description, status: body.status };
    },
  );
}
