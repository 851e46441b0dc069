import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { pageOf, pageQuery, readPage } from '../../http/pages';
import type { RunsContext } from '../context';
import type { RunRecord } from '../run';
import { runAnswer, workflowDetail, workflowItem } from './contracts';
import { runPresenter } from './present';

const shared = { method: 'get' as const, mount: 'root' as const, tag: 'workflows', permission: usePermission };
const byName = z.strictObject({ name: z.string().max(64) });

/** Workflows, derived from their runs: a workflow is known once a graph of its name has been run. */
export function workflowRoutes(routes: Routes, { runs, workflows, now }: RunsContext): void {
  const answered = runPresenter({ runs, now });
  const item = ({ slug, name, run_id, ran_at }: { slug: string; name: string; run_id: string; ran_at: string }) => ({
    name,
    slug,
    filename: `${slug}.dot`,
    last_run: { id: run_id, ran_at },
    schedule: null,
  });

  routes.add(
    {
      ...shared,
      path: '/workflows',
      operationId: 'listWorkflows',
      summary: 'List workflows with runs, by name',
      query: pageQuery,
      response: pageOf(workflowItem),
    },
    async ({ query }) => {
      const { data, meta } = await readPage(query, (range) => workflows.list(range));
      return { data: data.map(item), meta };
    },
  );

  routes.add(
    {
      ...shared,
      path: '/workflows/:name',
      operationId: 'getWorkflow',
      summary: 'Read a workflow with the graph of its latest run',
      params: byName,
      response: workflowDetail,
    },
    async ({ params }) => {
      const workflow = await workflows.get(params.name);
      if (!workflow) {
        throw refuse(404, 'Workflow not found.');
      }
      const { goal = null, dot_source } = workflow;
      return { ...item(workflow), description: goal, config: null, graph: dot_source };
    },
  );

  routes.add(
    {
      ...shared,
      path: '/workflows/:name/runs',
      operationId: 'listWorkflowRuns',
      summary: 'List runs of a workflow, newest first',
      params: byName,
      query: pageQuery,
      response: pageOf(runAnswer),
    },
    async ({ params, query }) => {
      if (!(await workflows.get(params.name))) {
        throw refuse(404, 'Workflow not found.');
      }
      const { data, meta } = await readPage<RunRecord>(query, (range) => runs.find({ slug: params.name }, range));
      return { data: await Promise.all(data.map(answered)), meta };
    },
  );
}
