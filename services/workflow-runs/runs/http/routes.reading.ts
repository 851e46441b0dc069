import { z } from 'zod';
import { AppError } from '../../../../platform/errors/app-error';
import { BytesResponse } from '../../../../platform/http/response';
import type { Routes } from '../../../../platform/http/routing/routes';
import { compact } from '../../../../platform/json/compact';
import { usePermission } from '../../http/auth';
import { callerLeft } from '../../http/caller-left';
import { refuse } from '../../http/errors';
import { assertReached, eventStream, lastEventId } from '../../http/event-stream';
import { requireFound } from '../../http/fields';
import { pageFrom, pageOf, pageQuery } from '../../http/pages';
import { ping, withPings } from '../../http/pings';
import type { RunsContext } from '../context';
import { hasEnded, runCheckpoint, runId } from '../run';
import { configuration, stageAnswer, turn } from './contracts';
import { drawGraph } from './draw';
import { followRun } from './follow';
import { readGraph } from './read-graph';

const shared = { method: 'get' as const, mount: 'root' as const, tag: 'runs', permission: usePermission };
const byId = z.strictObject({ id: runId });
/** One of the latest checkpoints, as the events of the run name it. */
const checkpointSelector = { checkpoint: z.string().min(1).max(160).optional() };
const byStage = z.strictObject({ id: runId, stageId: z.string().max(160) });

/** What is to be seen of a run: its events, stages, values, and its graph. */
export function runReadingRoutes(
  routes: Routes,
  { runs, graphs, events, turns, checkpoints, env, ending }: RunsContext,
): void {
  /** @throws AppError 404 for a checkpoint that is not stored, or not any more */
  const selected = async (runId: string, id: string) =>
    requireFound(await checkpoints.get(runId, id), `Checkpoint ${JSON.stringify(id)}`);

  routes.add(
    {
      ...shared,
      path: '/runs/:id/events',
      operationId: 'streamRunEvents',
      summary: 'Stream run events as server-sent events; resumes from Last-Event-ID',
      params: byId,
      response: z.string(),
      errors: [410],
    },
    async ({ params, header }, ctx) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      const after = lastEventId(header('Last-Event-ID'));
      const last = after === undefined ? 0 : await events.last(run._id);
      // One that was cut off from it reads the rest.
      if (hasEnded(run.status) && (after === undefined || after >= last)) {
        throw refuse(410, 'Event stream closed.');
      }
      assertReached(after ?? 0, last);
      const signal = AbortSignal.any([callerLeft(ctx), ending]);
      const stream = followRun({ events, runs }, run._id, { after: after ?? 0, signal });
      return eventStream(withPings(stream, env.WORKFLOW_RUNS_PING_MS, ping));
    },
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/stages',
      operationId: 'listRunStages',
      summary: 'List stages of a run in start order',
      params: byId,
      query: pageQuery,
      response: pageOf(stageAnswer),
    },
    async ({ params, query }) => pageFrom(requireFound(await runs.getWhole(params.id), 'Run').stages, query),
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/stages/:stageId/turns',
      operationId: 'listStageTurns',
      summary: 'List the messages of a stage',
      params: byStage,
      query: pageQuery,
      response: pageOf(turn),
    },
    async ({ params, query }) => {
      const run = requireFound(await runs.getWhole(params.id), 'Run');
      if (!run.stages.some(({ id }) => id === params.stageId)) {
        throw refuse(404, 'Stage not found.');
      }
      return pageFrom(await turns.get(run._id, params.stageId), query);
    },
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/checkpoint',
      operationId: 'getRunCheckpoint',
      summary: 'Read the state of a run, or a checkpoint of it; null before the end of its first stage',
      params: byId,
      query: z.strictObject(checkpointSelector),
      response: runCheckpoint.nullable(),
    },
    async ({ params, query }) => {
      const run = requireFound(await runs.get(params.id), 'Run');
      return query.checkpoint === undefined ? (run.checkpoint ?? null) : selected(run._id, query.checkpoint);
    },
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/context',
      operationId: 'getRunContext',
      summary: 'Read the values of a run',
      params: byId,
      response: z.record(z.string(), z.unknown()),
    },
    async ({ params }) => requireFound(await runs.get(params.id), 'Run').context,
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/graph',
      operationId: 'drawRunGraph',
      summary: 'Render the graph of a run as SVG, coloured by outcome',
      params: byId,
      response: z.string(),
      errors: [502],
    },
    async ({ params }) => {
      const run = requireFound(await runs.getWhole(params.id), 'Run');
      // An earlier version may have accepted more.
      const graph = await readGraph(graphs, run.dot_source).catch((error: unknown) => {
        const isRefused = error instanceof AppError && error.status === 400;
        throw isRefused ? refuse(502, `The graph cannot be drawn: ${error.message}`) : error;
      });
      const svg = await drawGraph(graph, run);
      return new BytesResponse(only(Buffer.from(svg)), {
        'Content-Type': 'image/svg+xml; charset=utf-8',
        'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      });
    },
  );

  routes.add(
    {
      ...shared,
      path: '/runs/:id/configuration',
      operationId: 'getRunConfiguration',
      summary: 'Read the configuration of a run',
      params: byId,
      response: configuration,
    },
    async ({ params }) => {
      const { goal, dot_source: graph, vars, setup, hooks, defaults } = requireFound(await runs.get(params.id), 'Run');
      return { version: 1 as const, ...compact({ goal }), graph, ...defaults, ...compact({ vars, setup, hooks }) };
    },
  );
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
