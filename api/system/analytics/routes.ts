import type { Period } from '../../../contracts/period';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import {
  analyticsQuery,
  type BoardHealth,
  boardHealth,
  boardMetrics,
  timeline,
  type TimelineQuery,
  timelineQuery,
} from '../../../contracts/system/analytics';
import type { Task } from '../../../contracts/tasks/task';
import { boardMetricsOf } from '../../../domain/metrics/board-metrics';
import { timelineOf } from '../../../domain/metrics/timeline';
import { type Stretch, workOn } from '../../../domain/metrics/work';
import { dayMs } from '../../../domain/periods/zone';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { periodOf } from '../metrics/period';
import { tasksOf } from '../metrics/read';
import { inTurn } from '../metrics/scan';

const setting: SwitchableFeature = 'analyticsEnabled';
const read = { method: 'get' as const, tag: 'analytics', permission: 'report:read', setting };

type AnalyticsContext = Pick<ApiContext, 'board' | 'now'>;
type Filters = Pick<TimelineQuery, 'period' | 'from' | 'to' | 'tz' | 'project' | 'sprint'> & {
  agent?: string | undefined;
};

/** Bounds of a period; that of one without a beginning begins with the first task. */
const boundsOf = ({ from, to }: Period, tasks: readonly Task[]): Stretch => {
  const end = Date.parse(to);
  const first = tasks.reduce((least, { createdAt }) => Math.min(least, Date.parse(createdAt)), end - 1);
  return { from: from === null ? first : Date.parse(from), to: end };
};

/** The tasks that a query selects, with the work of its period. */
function selected(context: AnalyticsContext, { project, sprint, agent, ...stated }: Filters) {
  const now = context.now();
  const period = periodOf(stated, now);
  const tasks = tasksOf(context, { project })
    .map(({ task }) => task)
    .filter((task) => sprint === undefined || task.sprint === sprint)
    .filter((task) => agent === undefined || task.agent === agent);
  const bounds = boundsOf(period, tasks);
  return { period, tasks, bounds, works: tasks.flatMap((task) => workOn(task, bounds, now.getTime()) ?? []) };
}

const staleAfterMs = 7 * dayMs;
const maxStale = 50;

function healthOf(tasks: readonly Task[], now: Date): BoardHealth {
  const unfinished = tasks.filter(({ status }) => status !== 'done');
  const blocked = unfinished.filter(({ status }) => status === 'blocked').length;
  const inProgress = unfinished.filter(({ status }) => status === 'in-progress');
  const oldest = new Date(now.getTime() - staleAfterMs).toISOString();
  const stale = inProgress.filter(({ updatedAt }) => updatedAt < oldest);
  const isHalted = stale.length > 0 || (blocked > 0 && blocked * 3 >= unfinished.length);
  return {
    service: 'analytics',
    status: isHalted ? 'warning' : 'ok',
    checkedAt: now.toISOString(),
    ...{ unfinished: unfinished.length, inProgress: inProgress.length, blocked, stale: stale.length },
    staleTaskIds: stale.slice(0, maxStale).map(({ id }) => id),
  };
}

/** When tasks were worked on, and how fast they are finished (specification 1, Tasks; supplement 4.11). */
export function analyticsRoutes(routes: Routes, context: AnalyticsContext): void {
  routes.add(
    {
      ...read,
      path: '/analytics/timeline',
      operationId: 'getTimeline',
      summary: 'Summarize when tasks of a period were worked on, and how many at a time',
      query: timelineQuery,
      response: timeline,
      errors: [429],
    },
    async ({ query: { limit, ...query }, auth }) =>
      inTurn(auth.actor, async () => {
        const { works, period } = selected(context, query);
        return timelineOf(works, period, limit);
      }),
  );

  routes.add(
    {
      ...read,
      path: '/analytics/metrics',
      operationId: 'getBoardMetrics',
      summary: 'Summarize throughput, lead times, concurrency and agents of a period',
      query: analyticsQuery,
      response: boardMetrics,
      errors: [429],
    },
    async ({ query, auth }) =>
      inTurn(auth.actor, async () => {
        const { tasks, ...rest } = selected(context, query);
        return boardMetricsOf(tasks, rest);
      }),
  );

  routes.add(
    {
      ...read,
      path: '/analytics/health',
      operationId: 'getBoardHealth',
      summary: 'Summarize unfinished, blocked and stale tasks of the board',
      response: boardHealth,
    },
    async () =>
      healthOf(
        listAllTasks(context.board, ['active']).map(({ task }) => task),
        context.now(),
      ),
  );
}
