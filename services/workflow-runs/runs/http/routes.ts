import { ulid } from 'ulid';
import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { compact } from '../../../../platform/json/compact';
import type { Models } from '../../../../platform/models/models';
import { runExclusive } from '../../../../platform/operations/keyed-mutex';
import { operationUlid } from '../../../../platform/operations/new-ids';
import type { Graph } from '../../graph/graph';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { requireFound } from '../../http/fields';
import { pageOf, readPage } from '../../http/pages';
import type { RunsContext } from '../context';
import { activeStatuses, runId, type RunRecord, type RunStatus } from '../run';
import { runAnswer, runCreate, runListQuery } from './contracts';
import { presentRun } from './present';
import { readGraph } from './read-graph';

const shared = { mount: 'root' as const, tag: 'runs', permission: usePermission };
const byId = z.strictObject({ id: runId });

/** Runs: start, list, read, cancel, pause, unpause (specification 3, C). */
export function runRoutes(routes: Routes, context: RunsContext): void {
  const { runs, workflows, models, graphs, dispatcher, commands, taskQueue, now, log } = context;

  const answered = async (run: RunRecord) =>
    presentRun(run, {
      now: now(),
      ...(run.status === 'queued' && { queuePosition: await runs.queuePosition(run._id) }),
    });

  routes.add(
    {
      ...shared,
      method: 'post',
      path: '/runs',
      operationId: 'createRun',
      summary: 'Queue a run of a graph',
      body: runCreate,
      response: runAnswer,
      status: 201,
    },
    async ({ body, auth }, ctx) => {
      const graph = await readGraph(graphs, body.dot_source);
      assertModels(graph, models);
      const run = newRun(body.dot_source, graph, { user: auth.userId, at: now() });
      // One after another: what is counted includes every run that was accepted before.
      await runExclusive(`insert workflow run/${taskQueue}`, async () => {
        await assertRoomFor(context);
        await workflows.note(run);
        await runs.insert(run);
      });
      // It is queued, whatever happens now: what is missed here is dispatched within a minute.
      await dispatcher.lookAgain().catch((err: unknown) => log.warn({ err, runId: run._id }, 'run start deferred'));
      ctx.set('Location', `/runs/${run._id}`);
      return answered(run);
    },
  );

  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs',
      operationId: 'listRuns',
      summary: 'List runs, newest first',
      query: runListQuery,
      response: pageOf(runAnswer),
    },
    async ({ query: { status, workflow, ...page } }) => {
      const filter = { slug: workflow, statuses: status && [status] };
      const { data, meta } = await readPage<RunRecord>(page, (range) => runs.find(filter, range));
      return { data: await Promise.all(data.map(answered)), meta };
    },
  );

  routes.add(
    {
      ...shared,
      method: 'get',
      path: '/runs/:id',
      operationId: 'getRun',
      summary: 'Read the status of a run',
      params: byId,
      response: runAnswer,
    },
    async ({ params }) => answered(requireFound(await runs.get(params.id), 'Run')),
  );

  for (const { action, summary, late, from, act } of [
    {
      action: 'cancel',
      summary: 'Cancel a queued or running run',
      late: 'Run is not cancellable.',
      from: ['queued', 'starting', 'running'],
      act: (run: RunRecord, reason: string) => commands.cancel(run, reason),
    },
    {
      action: 'pause',
      summary: 'Pause a run before its next stage',
      late: 'Run is not pausable.',
      from: ['running'],
      act: (run: RunRecord, reason: string) => commands.pause(run._id, reason),
    },
    {
      action: 'unpause',
      summary: 'Resume a paused run',
      late: 'Run is not paused.',
      from: ['paused'],
      act: (run: RunRecord, reason: string) => commands.unpause(run._id, reason),
    },
  ] satisfies {
    action: string;
    summary: string;
    late: string;
    from: RunStatus[];
    act: (run: RunRecord, late: string) => Promise<void>;
  }[]) {
    routes.add(
      {
        ...shared,
        method: 'post',
        path: `/runs/:id/${action}`,
        operationId: `${action}Run`,
        summary,
        params: byId,
        body: z.strictObject({}),
        response: runAnswer,
        errors: [409],
      },
      async ({ params }) => {
        const run = requireFound(await runs.get(params.id), 'Run');
        if (!(from as RunStatus[]).includes(run.status)) {
          throw refuse(409, late);
        }
        await act(run, late);
        return answered(requireFound(await runs.get(params.id), 'Run'));
      },
    );
  }
}

/** @throws AppError 429 when there are as many runs as there may be */
async function assertRoomFor({ runs, env }: RunsContext): Promise<void> {
  const max = env.WORKFLOW_RUNS_MAX_OPEN;
  if ((await runs.count(['queued', ...activeStatuses])) >= max) {
    throw refuse(
      429,
      `${max} runs have not ended, which is the most there may be. Cancel one, or wait until one ends.`,
    );
  }
}

/** @throws AppError 400 for a node whose model is not in the catalog */
function assertModels({ nodes }: Graph, models: Models): void {
  const lost = Object.values(nodes).find(({ model }) => model !== undefined && !models.find(model));
  if (lost) {
    throw refuse(400, `Node "${lost.id}": Model not found: ${lost.model ?? ''}`);
  }
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64) || 'workflow';

function newRun(dotSource: string, { name, goal }: Graph, { user, at }: { user: string; at: Date }): RunRecord {
  return {
    _id: operationUlid(at, ulid),
    status: 'queued',
    workflow: { name, slug: slugOf(name) },
    title: (goal ?? name).slice(0, 200),
    ...compact({ goal }),
    dot_source: dotSource,
    created_by: user,
    created_at: at.toISOString(),
    stages: [],
    context: {},
    guidance: [],
    revision: 0,
  };
}
