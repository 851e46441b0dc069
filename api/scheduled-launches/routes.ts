import { z } from 'zod';
import {
  scheduledLaunch,
  scheduledLaunchCreate,
  scheduledLaunchId,
  scheduledLaunchPatch,
  scheduledLaunchQuery,
  type LaunchSpec,
  type ScheduledLaunch,
} from '../../contracts/scheduled-launch';
import { assertFound, conflict } from '../../platform/errors/app-error';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import { slicePage } from '../../platform/lists/slice';
import type { Board } from '../../stores/board-files/types';
import { ownFields } from '../../stores/configured-records';
import type {
  ScheduledLaunchRecord,
  ScheduledLaunchStore,
  ScheduledOutcomeStore,
} from '../../stores/scheduled-launch-store';
import { assertRevision, withRevision } from '../config/revisions';
import { newItemId } from '../tasks/items';

const tag = 'scheduled-launches';
const byId = z.strictObject({ id: scheduledLaunchId });
const read = { tag, permission: 'agent:read' };
const write = { tag, permission: 'agent:write' };

/** The Schedules in Temporal, which follow the definitions. */
export interface LaunchSchedules {
  /** @throws AppError 400 when Temporal cannot read it, 503 */
  check(spec: LaunchSpec): Promise<void>;
  follow(definition: ScheduledLaunchRecord): Promise<void>;
  drop(id: string): Promise<void>;
  trigger(id: string): Promise<void>;
}

export interface ScheduledLaunchContext {
  board: Pick<Board, 'get'>;
  schedules: LaunchSchedules;
  scheduledLaunches: ScheduledLaunchStore;
  scheduledOutcomes: ScheduledOutcomeStore;
}

/** Launches that a schedule makes: definitions of what is launched, when, and for whom. */
export function scheduledLaunchRoutes(routes: Routes, context: ScheduledLaunchContext): void {
  const { board, schedules, scheduledLaunches, scheduledOutcomes } = context;
  const present = async ({ workspaceId: _w, ...definition }: ScheduledLaunchRecord): Promise<ScheduledLaunch> => ({
    ...definition,
    lastOutcome: await scheduledOutcomes.get(definition.id),
  });
  /** Those of another workspace are not there. */
  async function definitionOf(id: string, workspaceId: string): Promise<ScheduledLaunchRecord> {
    const found = await scheduledLaunches.get(id);
    const one = found?.workspaceId === workspaceId ? found : undefined;
    assertFound(one, 'scheduled launch', id);
    return one;
  }

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scheduled-launches',
      operationId: 'listScheduledLaunches',
      summary: 'List launches that are made by a schedule',
      query: scheduledLaunchQuery,
      response: z.array(scheduledLaunch),
    },
    async ({ query, auth }) => {
      const all = (await scheduledLaunches.list()).filter(({ workspaceId }) => workspaceId === auth.workspaceId);
      return slicePage(await Promise.all(all.map(present)), query, ({ id }) => ({ key: id, id }));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scheduled-launches/:id',
      operationId: 'getScheduledLaunch',
      summary: 'Read a launch that is made by a schedule, and what came of it last',
      params: byId,
      response: scheduledLaunch,
    },
    async ({ params: { id }, auth }, ctx) =>
      withRevision(ctx, tag, await present(await definitionOf(id, auth.workspaceId))),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/scheduled-launches',
      operationId: 'createScheduledLaunch',
      summary: 'Have a run of an agent on a task started by a schedule',
      body: scheduledLaunchCreate,
      response: scheduledLaunch,
      status: 201,
      errors: [404, 503],
      audit: ({ body }, { id }) => ({
        action: 'scheduled-launch.create',
        resource: id,
        details: { taskId: body.taskId, spec: body.spec },
      }),
    },
    async ({ body, auth }, ctx) => {
      assertFound(await board.get(body.taskId), 'task', body.taskId);
      await schedules.check(body.spec);
      const { actor: createdBy, workspaceId } = auth;
      const made = await scheduledLaunches.create(newItemId('scheduled'), { ...body, createdBy, workspaceId });
      await schedules.follow(made);
      return withRevision(ctx, tag, await present(made));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/scheduled-launches/:id',
      operationId: 'changeScheduledLaunch',
      summary: 'Change or pause a launch that is made by a schedule; it is launched for who changed it last',
      params: byId,
      body: scheduledLaunchPatch,
      response: scheduledLaunch,
      errors: [404, 409, 503],
      audit: ({ params, body }) => ({
        action: 'scheduled-launch.update',
        resource: params.id,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...patch }, auth, header }, ctx) => {
      const stated = statedRevisions(tag, id, { header, bodyRevision });
      const expected = await expectedRevision(stated, async () => (await scheduledLaunches.get(id))?.revision);
      await definitionOf(id, auth.workspaceId);
      if (patch.taskId !== undefined) assertFound(await board.get(patch.taskId), 'task', patch.taskId);
      if (patch.spec !== undefined) await schedules.check(patch.spec);
      const changed = await scheduledLaunches.change(id, (current) => {
        assertFound(current, 'scheduled launch', id);
        assertRevision(tag, current, expected);
        return { ...ownFields(current), ...withoutUndefined(patch), createdBy: auth.actor };
      });
      await schedules.follow(changed);
      return withRevision(ctx, tag, await present(changed));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/scheduled-launches/:id',
      operationId: 'deleteScheduledLaunch',
      summary: 'Delete a launch that is made by a schedule; runs that it has started go on',
      params: byId,
      response: z.object({ success: z.literal(true) }),
      errors: [404],
      audit: ({ params }) => ({ action: 'scheduled-launch.delete', resource: params.id }),
    },
    async ({ params: { id }, auth }) => {
      await definitionOf(id, auth.workspaceId);
      await scheduledLaunches.remove(id);
      await schedules.drop(id);
      await scheduledOutcomes.remove(id);
      return { success: true as const };
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/scheduled-launches/:id/trigger',
      operationId: 'triggerScheduledLaunch',
      summary: 'Launch it now, besides its schedule; what came of it is its last outcome',
      params: byId,
      response: z.object({ triggered: z.literal(true) }),
      status: 202,
      errors: [404, 409, 503],
      audit: ({ params }) => ({ action: 'scheduled-launch.trigger', resource: params.id }),
    },
    async ({ params: { id }, auth }) => {
      const definition = await definitionOf(id, auth.workspaceId);
      if (definition.paused) throw conflict('It is paused.', { id, paused: true }, 'SCHEDULED_LAUNCH_PAUSED');
      await schedules.follow(definition);
      await schedules.trigger(id);
      return { triggered: true as const };
    },
  );
}
