import { z } from 'zod';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import {
  agentComparison,
  allMetrics,
  comparisonQuery,
  durationMetrics,
  type FailedRun,
  failedRun,
  failedRunsQuery,
  metricsQuery,
  runMetrics,
  taskCostMetrics,
  taskCostQuery,
  taskMetrics,
  tokenMetrics,
  trendMetrics,
  utilizationMetrics,
  velocityMetrics,
  velocityQuery,
} from '../../../contracts/system/metrics';
import type { TelemetryEvent } from '../../../contracts/system/telemetry';
import { velocityOf } from '../../../domain/metrics/velocity';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import {
  readComparison,
  readRuns,
  readTaskCosts,
  readTasks,
  readTokens,
  readTrends,
  readUtilization,
  scopeOf,
  tasksOf,
} from './read';
import { inTurn } from './scan';

const setting: SwitchableFeature = 'analyticsEnabled';
const read = { method: 'get' as const, tag: 'metrics', permission: 'report:read', setting };
const computed = { ...read, errors: [429] };

/** A `run.completed` event has these fields by its contract. */
function toFailedRun({ id, taskId = '', attemptId, agent = '', ...event }: TelemetryEvent): FailedRun {
  const { project, timestamp, durationMs = 0, status, error } = event;
  return { id, taskId, agent, timestamp, durationMs, ...compact({ attemptId, project, status, error }) };
}

/** Statistics of runs and tasks over a period (supplement 10.12). */
export function metricsRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'board' | 'telemetry' | 'managedLists' | 'now'>,
): void {
  const { telemetry, managedLists } = context;

  routes.add(
    {
      ...read,
      path: '/metrics/tasks',
      operationId: 'getTaskMetrics',
      summary: 'Count tasks by status, and those created and completed in a period',
      query: metricsQuery,
      response: taskMetrics,
    },
    async ({ query }) => readTasks(context, scopeOf(context, query)),
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/runs',
      operationId: 'getRunMetrics',
      summary: 'Count ended runs, successes and failures by agent',
      query: metricsQuery,
      response: runMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return (await inTurn(auth.actor, () => readRuns(context, scope))).runs;
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/tokens',
      operationId: 'getTokenMetrics',
      summary: 'Summarize tokens and cost by agent and model, and those of successful runs',
      query: metricsQuery,
      response: tokenMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, () => readTokens(context, scope));
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/duration',
      operationId: 'getDurationMetrics',
      summary: 'Summarize how long runs took: mean, median and 95th percentile by agent',
      query: metricsQuery,
      response: durationMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return (await inTurn(auth.actor, () => readRuns(context, scope))).duration;
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/all',
      operationId: 'getAllMetrics',
      summary: 'Summarize tasks, runs, tokens and durations of one period',
      query: metricsQuery,
      response: allMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, async () => ({
        period: scope.period,
        tasks: readTasks(context, scope),
        ...(await readRuns(context, scope)),
        tokens: await readTokens(context, scope),
      }));
    },
  );

  routes.add(
    {
      ...read,
      path: '/metrics/failed-runs',
      operationId: 'listFailedRuns',
      summary: 'List runs of a period that ended without success, newest first',
      query: failedRunsQuery,
      response: z.array(failedRun),
    },
    async ({ query: { limit, cursor, ...query } }) => {
      const { period, project } = scopeOf(context, query);
      const page = await telemetry.failedRuns({ from: period.from, to: period.to, project }, { limit, cursor });
      return page.map(toFailedRun);
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/trends',
      operationId: 'getTrends',
      summary: 'Summarize runs, tokens and tasks by hour, day, week or month of a period',
      query: metricsQuery,
      response: trendMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, () => readTrends(context, scope));
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/task-cost',
      operationId: 'getTaskCosts',
      summary: 'Summarize the cost of tasks in a period, most expensive first',
      query: taskCostQuery,
      response: taskCostMetrics,
    },
    async ({ query: { limit, ...query }, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, () => readTaskCosts(context, scope, limit));
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/utilization',
      operationId: 'getUtilization',
      summary: 'Summarize how much of a period agents were running',
      query: metricsQuery,
      response: utilizationMetrics,
    },
    async ({ query, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, () => readUtilization(context, scope));
    },
  );

  routes.add(
    {
      ...computed,
      path: '/metrics/agents/comparison',
      operationId: 'compareAgents',
      summary: 'Compare agents by reliability, duration and cost of their runs',
      query: comparisonQuery,
      response: agentComparison,
    },
    async ({ query: { minRuns, ...query }, auth }) => {
      const scope = scopeOf(context, query);
      return inTurn(auth.actor, () => readComparison(context, scope, minRuns));
    },
  );

  routes.add(
    {
      ...read,
      path: '/metrics/velocity',
      operationId: 'getVelocity',
      summary: 'Summarize how many tasks of the newest sprints were completed',
      query: velocityQuery,
      response: velocityMetrics,
    },
    async ({ query: { project, limit } }) => {
      const sprints = await managedLists.items('sprints');
      const order = new Map(sprints.flatMap(({ id, label, order: at }) => [[label, at] as const, [id, at] as const]));
      const tasks = tasksOf(context, { project }).map(({ task }) => task);
      return velocityOf(tasks, { order, limit });
    },
  );
}
