import { z } from 'zod';
import type { Routes } from '../../../../platform/http/routing/routes';
import { runExclusive } from '../../../../platform/operations/keyed-mutex';
import { usePermission } from '../../http/auth';
import { refuse } from '../../http/errors';
import { requireFound } from '../../http/fields';
import { pageOf, readPage } from '../../http/pages';
import type { RunsContext } from '../context';
import { withDefaults } from '../defaults';
import { runId, type RunRecord, type RunStatus } from '../run';
import { runAnswer, runCreate, runListQuery } from './contracts';
import {
  assertAgents,
  assertChildren,
  assertCommands,
  assertModels,
  assertRoomFor,
  assertSchemas,
  assertSetup,
  assertVars,
  newRun,
  repositoryOf,
} from './new-run';
import { runPresenter } from './present';
import { readGraph } from './read-graph';
import { defaultsOf } from './run-defaults';
import { assertHooks } from './run-hooks';

const shared = { mount: 'root' as const, tag: 'runs', permission: usePermission };
const byId = z.strictObject({ id: runId });

/** Runs: start, list, read, cancel, pause, unpause (specification 3, C). */
export function runRoutes(routes: Routes, context: RunsContext): void {
  const { runs, workflows, models, graphs, dispatcher, commands, sandbox, board, taskQueue, now, log } = context;

  const answered = runPresenter(context);

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
      const written = await readGraph(graphs, body.dot_source);
      const defaults = await defaultsOf(body, written, context);
      const graph = withDefaults(written, defaults);
      assertModels(graph, models);
      assertVars(graph, body.vars);
      assertAgents(graph, board);
      await assertCommands(graph, sandbox);
      await assertChildren(graph, context);
      await assertSchemas(graph, context);
      await assertSetup(body, sandbox, defaults);
      await assertHooks(body, { graph, sandbox, defaults });
      const repository = await repositoryOf(body, graph, context);
      const run = newRun(body, graph, { user: auth.userId, at: now(), repository, defaults });
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
    async ({ query: { status, workflow, parent, ...page } }) => {
      const filter = { slug: workflow, parent, statuses: status && [status] };
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
