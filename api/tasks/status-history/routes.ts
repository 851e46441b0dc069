import { z } from 'zod';
import {
  statusChange,
  type StatusDay,
  statusDay,
  statusDayQuery,
  statusHistoryQuery,
  statusRangeQuery,
  statusWeek,
} from '../../../contracts/tasks/status-history';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { boundsOf, dateOf, dayMs, endAt, summariseDay } from './summary';

const read = { tag: 'agent status', method: 'get' as const, permission: 'telemetry:read' };

/** Changes of one day that are read; a day with more is summed up to there. */
const maxChanges = 5_000;

const isDate = (text: string): boolean => text.length === 10;

/** How the reported status changed (specification 1, Mount list). Days are those of UTC. */
export function statusHistoryRoutes(routes: Routes, { agentStatus }: Pick<ApiContext, 'agentStatus'>): void {
  async function dayOf(date: string): Promise<StatusDay> {
    const { start, end } = boundsOf(date);
    const [changes, before] = await Promise.all([
      agentStatus.between(start, end, { limit: maxChanges }),
      agentStatus.lastBefore(start),
    ]);
    return summariseDay(date, { changes: changes.items, before, now: new Date() });
  }

  routes.add(
    {
      ...read,
      path: '/status-history',
      operationId: 'listStatusHistory',
      summary: 'List agent status changes, newest first',
      query: statusHistoryQuery,
      response: z.array(statusChange),
    },
    ({ query }) => agentStatus.history(query),
  );

  routes.add(
    {
      ...read,
      path: '/status-history/range',
      operationId: 'listStatusHistoryRange',
      summary: 'List agent status changes between two times, oldest first',
      query: statusRangeQuery,
      response: z.array(statusChange),
    },
    ({ query: { startDate, endDate, ...part } }) => {
      const start = isDate(startDate) ? boundsOf(startDate).start : new Date(startDate).toISOString();
      const end = isDate(endDate) ? boundsOf(endDate).end : endAt(Date.parse(endDate) + 1);
      return agentStatus.between(start, end, part);
    },
  );

  routes.add(
    {
      ...read,
      path: '/status-history/summary/daily',
      operationId: 'getStatusDay',
      summary: 'Summarize a day, by default today',
      query: statusDayQuery,
      response: statusDay,
    },
    ({ query }) => dayOf(query.date ?? dateOf(new Date())),
  );

  routes.add(
    {
      ...read,
      path: '/status-history/summary/weekly',
      operationId: 'getStatusWeek',
      summary: 'Summarize the seven days that end with a day, by default today',
      query: statusDayQuery,
      response: statusWeek,
    },
    async ({ query }) => {
      const last = Date.parse(query.date ?? dateOf(new Date()));
      const dates = Array.from({ length: 7 }, (_, index) => dateOf(new Date(last - (6 - index) * dayMs)));
      const days = (await Promise.all(dates.map(dayOf))).map(({ periods: _periods, ...day }) => day);
      const sum = (of: 'activeMs' | 'idleMs' | 'errorMs' | 'transitions') =>
        days.reduce((total, day) => total + day[of], 0);
      return {
        startDate: dates[0] ?? '',
        endDate: dates[6] ?? '',
        activeMs: sum('activeMs'),
        idleMs: sum('idleMs'),
        errorMs: sum('errorMs'),
        transitions: sum('transitions'),
        days,
      };
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/status-history',
      operationId: 'clearStatusHistory',
      summary: 'Delete the agent status history; the current status remains',
      tag: read.tag,
      permission: 'admin:manage',
      response: z.undefined(),
      status: 204,
      audit: () => ({ action: 'status-history.clear' }),
    },
    async () => {
      await agentStatus.clear();
      return undefined;
    },
  );
}
