import { z } from 'zod';
import { attemptId } from '../../../contracts/common';
import { attemptState } from '../../../contracts/runs/attempt';
import { runTrace, taskTraceQuery, taskTraces, traceQuery, tracingStatus } from '../../../contracts/runs/trace';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { taskParams } from '../attempts/parameters';
import { isTraced, readTrace, type TraceContext, tracedAttempt, traceSummaryOf } from './read';

const tag = 'traces';
const read = { method: 'get', tag, permission: 'telemetry:read' } as const;

/** Where the time of a run went (specification 2, `/api/traces`). */
export function traceRoutes(routes: Routes, context: TraceContext & Pick<ApiContext, 'board'>): void {
  const { attempts, board, settings } = context;

  routes.add(
    {
      ...read,
      path: '/traces/status',
      operationId: 'getTracingStatus',
      summary: 'Read whether traces of runs are recorded',
      response: tracingStatus,
    },
    async () => ({ enabled: (await settings.read()).features.tracing.enabled }),
  );

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    routes.add(
      {
        method: 'post',
        tag,
        permission: 'settings:write',
        path: `/traces/${verb}`,
        operationId: `${verb}Tracing`,
        summary: enabled ? 'Enable the recording of traces of runs' : 'Disable the recording of traces of runs',
        response: tracingStatus,
        audit: () => ({ action: 'settings.update', details: { tracing: { enabled } } }),
      },
      async () => ({ enabled: (await settings.patch({ tracing: { enabled } })).features.tracing.enabled }),
    );
  }

  routes.add(
    {
      ...read,
      path: '/traces/:attemptId',
      operationId: 'getRunTrace',
      summary: 'Read the trace of an attempt: the spans of its steps, turns, tools and approvals',
      params: z.strictObject({ attemptId }),
      query: traceQuery,
      response: runTrace,
      errors: [404],
    },
    async ({ params, query }) => readTrace(context, await tracedAttempt(context, params.attemptId), query),
  );

  routes.add(
    {
      ...read,
      path: '/traces/task/:taskId',
      operationId: 'listTaskTraces',
      summary: 'List the traces of the attempts of a task, newest first, without what their agents did',
      params: taskParams,
      query: taskTraceQuery,
      response: taskTraces,
      errors: [404],
    },
    async ({ params: { taskId }, query }) => {
      const page = await attempts.list(taskId, query, { states: attemptState.options });
      if (page.items.length === 0) {
        assertFound(await board.get(taskId), 'task', taskId);
      }
      const traces = await Promise.all(page.items.filter(isTraced).map((record) => traceSummaryOf(context, record)));
      const untraced = page.items.filter((record) => !isTraced(record)).map(({ _id }) => _id);
      return page.answer({ taskId, traces, untraced });
    },
  );
}
