import { z } from 'zod';
import {
  dueRuns,
  schedulerItem,
  type SchedulerItemDetails,
  schedulerItemDetails,
  schedulerItemId,
  schedulerQuery,
  schedulerRun,
  schedulerValidation,
  schedulerView,
} from '../../../contracts/runs/schedules/scheduler';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { mayRunAgents } from '../../../platform/http/auth/local-agent';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { ownFields } from '../../../stores/port/configured-records';
import { assertMayLaunch, createDeliverableOperations } from '../scheduled-deliverables/operations';
import { runDue } from './due';
import { createSchedulerItems, eventOf, isEnabled, type Scheduled, type SchedulerContext } from './items';
import { readScheduleState } from './schedule-state';
import { issuesOf } from './validate';

const tag = 'scheduler';
const itemPath = '/scheduler/items/:id' as const;
const idParams = z.strictObject({ id: schedulerItemId });

/** How many runs the view shows. */
const maxRecentEvents = 50;

/** What Schedules start, in one view: scheduled deliverables and scheduled launches (specification 1, Mount list). */
export function schedulerRoutes(routes: Routes, context: SchedulerContext): void {
  const { deliverableRuns, scheduledLaunches, launchSchedules } = context;
  const items = createSchedulerItems(context);
  const deliverables = createDeliverableOperations(context);

  async function find(id: string): Promise<Scheduled> {
    const scheduled = await items.find(id);
    assertFound(scheduled, 'scheduler item', id);
    return scheduled;
  }
  const withState = async (scheduled: Scheduled): Promise<SchedulerItemDetails> => ({
    ...(await items.present(scheduled)),
    ...(await readScheduleState(context, scheduled)),
  });
  const launches = ({ kind, record }: Scheduled): boolean => kind === 'scheduled-launch' || record.agent !== undefined;

  /** Pauses or resumes an item; what is resumed runs for the caller. */
  async function setEnabled(id: string, enabled: boolean, { auth, ctx }: { auth: AuthContext; ctx: HttpContext }) {
    const scheduled = await find(id);
    if (enabled && launches(scheduled)) {
      assertMayLaunch(auth, ctx);
    }
    if (scheduled.kind === 'scheduled-deliverable') {
      const record = await deliverables.setEnabled(id, enabled, auth.actor);
      return items.present({ kind: scheduled.kind, record });
    }
    const record = await scheduledLaunches.change(id, (current) => {
      assertFound(current, 'scheduled launch', id);
      const isResumed = enabled && current.paused;
      return { ...ownFields(current), paused: !enabled, ...(isResumed && { createdBy: auth.actor }) };
    });
    await launchSchedules.follow(record);
    return items.present({ kind: scheduled.kind, record });
  }

  routes.add(
    {
      method: 'get',
      path: '/scheduler',
      operationId: 'getScheduler',
      summary: 'List what schedules start, with recent events',
      tag,
      permission: 'workflow:read',
      query: schedulerQuery,
      response: schedulerView,
    },
    async ({ query }) => {
      const all = await items.all();
      const page = slicePage(all, query, { positionOf: ({ record: { id } }) => ({ key: id, id }) });
      const shown = await Promise.all(page.items.map((one) => items.present(one)));
      const ofLaunches = shown.flatMap(({ id, kind, lastRun }) =>
        kind === 'scheduled-launch' && lastRun ? [{ itemId: id, kind, ...lastRun }] : [],
      );
      const events = [...(await deliverableRuns.recent(maxRecentEvents)).map(eventOf), ...ofLaunches];
      const enabled = all.filter(isEnabled).length;
      const ofKind = (kind: Scheduled['kind']): number => all.filter((one) => one.kind === kind).length;
      return page.answer({
        generatedAt: context.now().toISOString(),
        summary: {
          ...{ total: all.length, enabled, paused: all.length - enabled },
          byKind: {
            'scheduled-deliverable': ofKind('scheduled-deliverable'),
            'scheduled-launch': ofKind('scheduled-launch'),
          },
        },
        items: shown,
        recentEvents: events.sort((a, b) => b.at.localeCompare(a.at)).slice(0, maxRecentEvents),
      });
    },
  );

  routes.add(
    {
      method: 'get',
      path: itemPath,
      operationId: 'getSchedulerItem',
      summary: 'Read an item of the scheduler with the state of its Schedule',
      tag,
      permission: 'workflow:read',
      params: idParams,
      response: schedulerItemDetails,
      errors: [404, 503],
    },
    async ({ params: { id } }) => withState(await find(id)),
  );

  routes.add(
    {
      method: 'post',
      path: `${itemPath}/run`,
      operationId: 'runSchedulerItem',
      summary: 'Start an item of the scheduler now, in addition to its schedule',
      tag,
      permission: 'workflow:execute',
      params: idParams,
      response: schedulerRun,
      status: 202,
      errors: [404, 409, 503],
      audit: ({ params }, { kind, runId }) => ({
        action: 'scheduler.run',
        resource: params.id,
        details: { kind, runId },
      }),
    },
    async ({ params: { id }, auth }, ctx) => {
      const scheduled = await find(id);
      if (launches(scheduled)) {
        assertMayLaunch(auth, ctx);
      }
      const { kind, record } = scheduled;
      if (kind === 'scheduled-deliverable') {
        return { id, kind, runId: await deliverables.runNow(id, auth) };
      }
      if (record.paused) {
        throw conflict(
          'The scheduled launch is paused; resume it first.',
          { id, paused: true },
          'SCHEDULED_LAUNCH_PAUSED',
        );
      }
      await launchSchedules.follow(record);
      await launchSchedules.trigger(id);
      return { id, kind, runId: null };
    },
  );

  for (const verb of ['pause', 'resume'] as const) {
    routes.add(
      {
        method: 'post',
        path: `${itemPath}/${verb}`,
        operationId: `${verb}SchedulerItem`,
        summary: verb === 'pause' ? 'Pause an item of the scheduler' : 'Resume an item of the scheduler',
        tag,
        permission: 'workflow:write',
        params: idParams,
        response: schedulerItem,
        errors: [404],
        audit: ({ params }) => ({ action: `scheduler.${verb}`, resource: params.id }),
      },
      ({ params: { id }, auth }, ctx) => setEnabled(id, verb === 'resume', { auth, ctx }),
    );
  }

  routes.add(
    {
      method: 'post',
      path: `${itemPath}/validate`,
      operationId: 'validateSchedulerItem',
      summary: 'Validate an item of the scheduler: its times, its Schedule, and what it names',
      tag,
      permission: 'workflow:read',
      params: idParams,
      response: schedulerValidation,
      errors: [404, 503],
    },
    async ({ params: { id } }) => {
      const scheduled = await find(id);
      const { synchronized, nextRuns } = await readScheduleState(context, scheduled);
      const issues = await issuesOf(context, scheduled, { synchronized, nextRuns });
      return { valid: issues.length === 0, issues, nextRuns };
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/scheduler/due/run',
      operationId: 'runDueItems',
      summary: 'Start scheduled deliverables that missed a time for longer than their catch-up',
      tag,
      permission: 'workflow:execute',
      response: dueRuns,
      errors: [503],
      audit: (_request, { executed, failed }) => ({ action: 'scheduler.run-due', details: { executed, failed } }),
    },
    ({ auth }, { req }) => {
      const local = mayRunAgents(auth, { headers: req.headers, connection: req.socket });
      return runDue(context, { actor: auth.actor, mayLaunch: local && auth.permissions.includes('agent:write') });
    },
  );
}
