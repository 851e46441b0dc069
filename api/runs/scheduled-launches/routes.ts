import { z } from 'zod';
import {
  type ScheduledLaunch,
  scheduledLaunch,
  scheduledLaunchCreate,
  scheduledLaunchId,
  scheduledLaunchPatch,
  scheduledLaunchQuery,
} from '../../../contracts/runs/launch/scheduled-launch';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { ownFields } from '../../../stores/port/configured-records';
import type { ScheduledLaunchRecord } from '../../../stores/runs/launch/scheduled-launch-store';
import type { WorkflowContext } from '../../context';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';

const tag = 'scheduled-launches';
const idParams = z.strictObject({ id: scheduledLaunchId });
const read = { tag, permission: 'agent:read' };
const write = { tag, permission: 'agent:write' };

type ScheduledLaunchContext = Pick<
  WorkflowContext,
  'board' | 'launchSchedules' | 'scheduledLaunches' | 'scheduledOutcomes'
>;

/** Launches that a schedule makes: definitions of what is launched, when, and in the name of which actor. */
export function scheduledLaunchRoutes(routes: Routes, context: ScheduledLaunchContext): void {
  const { board, launchSchedules, scheduledLaunches, scheduledOutcomes } = context;
  const present = async ({ workspaceId: _w, ...definition }: ScheduledLaunchRecord): Promise<ScheduledLaunch> => ({
    ...definition,
    lastOutcome: await scheduledOutcomes.get(definition.id),
  });
  /** Those of another workspace are not there. */
  async function definitionOf(id: string, workspaceId: string): Promise<ScheduledLaunchRecord> {
    const definition = await scheduledLaunches.get(id);
    const one = definition?.workspaceId === workspaceId ? definition : undefined;
    assertFound(one, 'scheduled launch', id);
    return one;
  }

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scheduled-launches',
      operationId: 'listScheduledLaunches',
      summary: 'List scheduled launches',
      query: scheduledLaunchQuery,
      response: z.array(scheduledLaunch),
    },
    async ({ query, auth }) => {
      const all = (await scheduledLaunches.list()).filter(({ workspaceId }) => workspaceId === auth.workspaceId);
      return slicePage(await Promise.all(all.map(present)), query, { positionOf: ({ id }) => ({ key: id, id }) });
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/scheduled-launches/:id',
      operationId: 'getScheduledLaunch',
      summary: 'Read a scheduled launch with its last outcome',
      params: idParams,
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
      localAgent: true,
      summary: 'Create a scheduled launch of an agent on a task',
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
      await launchSchedules.check(body.spec);
      const { actor: createdBy, workspaceId } = auth;
      const made = await scheduledLaunches.create(newItemId('scheduled'), { ...body, createdBy, workspaceId });
      await launchSchedules.follow(made);
      return withRevision(ctx, tag, await present(made));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/scheduled-launches/:id',
      operationId: 'changeScheduledLaunch',
      localAgent: true,
      summary: 'Update or pause a scheduled launch; it launches for its last editor',
      params: idParams,
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
      const current = () => scheduledLaunches.get(id);
      const expected = await statedRevision({ type: tag, id, current }, { header, bodyRevision });
      await definitionOf(id, auth.workspaceId);
      if (patch.taskId !== undefined) {
        assertFound(await board.get(patch.taskId), 'task', patch.taskId);
      }
      if (patch.spec !== undefined) {
        await launchSchedules.check(patch.spec);
      }
      const changed = await scheduledLaunches.change(id, (current) => {
        assertFound(current, 'scheduled launch', id);
        assertRevision(tag, current, { expectedRevision: expected });
        return { ...ownFields(current), ...compact(patch), createdBy: auth.actor };
      });
      await launchSchedules.follow(changed);
      return withRevision(ctx, tag, await present(changed));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/scheduled-launches/:id',
      operationId: 'deleteScheduledLaunch',
      summary: 'Delete a scheduled launch; its started runs continue',
      params: idParams,
      response: z.object({ success: z.literal(true) }),
      errors: [404],
      audit: ({ params }) => ({ action: 'scheduled-launch.delete', resource: params.id }),
    },
    async ({ params: { id }, auth }) => {
      await definitionOf(id, auth.workspaceId);
      await scheduledLaunches.remove(id);
      await launchSchedules.drop(id);
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
      localAgent: true,
      summary: 'Trigger a scheduled launch now, in addition to its schedule',
      params: idParams,
      response: z.object({ triggered: z.literal(true) }),
      status: 202,
      errors: [404, 409, 503],
      audit: ({ params }) => ({ action: 'scheduled-launch.trigger', resource: params.id }),
    },
    async ({ params: { id }, auth }) => {
      const definition = await definitionOf(id, auth.workspaceId);
      if (definition.paused) {
        throw conflict(
          'The scheduled launch is paused; resume it first.',
          { id, paused: true },
          'SCHEDULED_LAUNCH_PAUSED',
        );
      }
      await launchSchedules.follow(definition);
      await launchSchedules.trigger(id);
      return { triggered: true as const };
    },
  );
}
