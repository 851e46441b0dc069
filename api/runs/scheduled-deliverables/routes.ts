import { z } from 'zod';
import {
  deliverableRunId,
  maxScheduledDeliverables,
  type ScheduledDeliverable,
  scheduledDeliverable,
  scheduledDeliverableCreate,
  scheduledDeliverableId,
  scheduledDeliverablePatch,
  scheduledDeliverableQuery,
  timingIssue,
} from '../../../contracts/runs/schedules/scheduled-deliverable';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { Page } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import { ownFields } from '../../../stores/port/configured-records';
import { presentRun } from '../../../stores/runs/schedules/scheduled-deliverable-run-store';
import type {
  ScheduledDeliverableFields,
  ScheduledDeliverableRecord,
} from '../../../stores/runs/schedules/scheduled-deliverable-store';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertMayLaunch, createDeliverableOperations, type ScheduledDeliverableContext } from './operations';
import { deliverableRunRoutes } from './routes.runs';

const tag = 'scheduled-deliverables';
const path = '/deliverables';
const onePath = `${path}/:id` as const;
const idParams = z.strictObject({ id: scheduledDeliverableId });
const read = { tag, permission: 'task:read' } as const;
const write = { tag, permission: 'task:write' } as const;

/** Deliverables that are made again and again (specification 1, Mount list). */
export function scheduledDeliverableRoutes(routes: Routes, context: ScheduledDeliverableContext): void {
  const { scheduledDeliverables, deliverableRuns, deliverableSchedules } = context;
  const operations = createDeliverableOperations(context);
  const { find } = operations;

  async function present(definition: ScheduledDeliverableRecord): Promise<ScheduledDeliverable> {
    const [last] = (await deliverableRuns.ofDeliverable(definition.id, { limit: 1 })).items;
    return { ...definition, lastRun: last ? presentRun(last) : null };
  }

  /** @throws AppError 400 for times that do not fit together or never come, and for a repository that is not configured */
  async function checked(fields: ScheduledDeliverableFields): Promise<ScheduledDeliverableFields> {
    const issue = timingIssue(fields);
    if (issue) {
      throw validationError([issue]);
    }
    await deliverableSchedules.check(fields);
    if (fields.repo !== undefined && !(await context.repositories.find(fields.repo))) {
      throw validationError([{ path: 'repo', message: 'is no configured repository' }]);
    }
    return fields;
  }

  routes.add(
    {
      ...read,
      method: 'get',
      path,
      operationId: 'listScheduledDeliverables',
      summary: 'List scheduled deliverables',
      query: scheduledDeliverableQuery,
      response: z.array(scheduledDeliverable),
    },
    async ({ query }) => {
      const matching = (await scheduledDeliverables.list()).filter(
        ({ enabled, agent, tags }) =>
          (query.enabled === undefined || enabled === query.enabled) &&
          (query.agent === undefined || agent === query.agent) &&
          (query.tag === undefined || tags.includes(query.tag)),
      );
      const page = slicePage(matching, query, { positionOf: ({ id }) => ({ key: id, id }) });
      return new Page(await Promise.all(page.items.map(present)), page.next);
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: onePath,
      operationId: 'getScheduledDeliverable',
      summary: 'Read a scheduled deliverable with its last run',
      params: idParams,
      response: scheduledDeliverable,
    },
    async ({ params: { id } }, ctx) => withRevision(ctx, tag, await present(await find(id))),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path,
      operationId: 'createScheduledDeliverable',
      summary: 'Create a scheduled deliverable',
      body: scheduledDeliverableCreate,
      response: scheduledDeliverable,
      status: 201,
      errors: [409, 503],
      audit: ({ body }, { id }) => ({
        action: 'scheduled-deliverable.create',
        resource: id,
        details: compact({ schedule: body.schedule, cronExpr: body.cronExpr, agent: body.agent }),
      }),
    },
    async ({ body, auth }, ctx) => {
      if (body.agent !== undefined) {
        assertMayLaunch(auth, ctx);
      }
      const fields = await checked({
        ...compact(body),
        name: plainField(body.name, 'name'),
        createdBy: auth.actor,
        updatedBy: auth.actor,
      });
      const id = newItemId('recurring');
      const others = (await scheduledDeliverables.list()).filter((other) => other.id !== id);
      if (others.length >= maxScheduledDeliverables) {
        throw conflict(`There are ${maxScheduledDeliverables} scheduled deliverables, the most there may be.`);
      }
      const made = await scheduledDeliverables.create(id, fields);
      await deliverableSchedules.follow(made);
      return withRevision(ctx, tag, await present(made));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: onePath,
      operationId: 'changeScheduledDeliverable',
      summary: 'Update or pause a scheduled deliverable; it runs for its last editor',
      params: idParams,
      body: scheduledDeliverablePatch,
      response: scheduledDeliverable,
      errors: [404, 409, 503],
      audit: ({ params, body }) => ({
        action: 'scheduled-deliverable.update',
        resource: params.id,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...patch }, auth, header }, ctx) => {
      const current = () => scheduledDeliverables.get(id);
      const expected = await statedRevision({ type: tag, id, current }, { header, bodyRevision });
      const before = await find(id);
      const name = patch.name === undefined ? {} : { name: plainField(patch.name, 'name') };
      const onlyPaused = patch.enabled === false && Object.keys(patch).length === 1;
      const changed = (current: ScheduledDeliverableRecord): ScheduledDeliverableFields =>
        compact({
          ...ownFields(current),
          // The cron expression of a schedule that becomes another one is no part of it.
          ...(patch.schedule !== undefined && patch.schedule !== 'custom' && { cronExpr: undefined }),
          ...patch,
          ...name,
          ...(!onlyPaused && { updatedBy: auth.actor }),
        });
      const seen = changed(before);
      if (!onlyPaused) {
        if (before.agent !== undefined || seen.agent !== undefined) {
          assertMayLaunch(auth, ctx);
        }
        await checked(seen);
      }
      const written = await scheduledDeliverables.change(id, (newest) => {
        assertFound(newest, 'scheduled deliverable', id);
        // What was checked is what is written: another writer's change in between refuses this one.
        assertRevision(tag, newest, { expectedRevision: expected ?? before.revision });
        return changed(newest);
      });
      await deliverableSchedules.follow(written);
      return withRevision(ctx, tag, await present(written));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: onePath,
      operationId: 'deleteScheduledDeliverable',
      summary: 'Delete a scheduled deliverable; its started runs continue',
      params: idParams,
      response: z.undefined(),
      status: 204,
      errors: [404, 409],
      audit: ({ params }) => ({ action: 'scheduled-deliverable.delete', resource: params.id }),
    },
    async ({ params: { id }, header }) => {
      const current = () => scheduledDeliverables.get(id);
      const expected = await statedRevision({ type: tag, id, current }, { header });
      assertRevision(tag, await find(id), { expectedRevision: expected });
      await scheduledDeliverables.remove(id, expected);
      await deliverableSchedules.drop(id);
      await context.schedulerMarks.remove(id);
      return undefined;
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: `${onePath}/run`,
      operationId: 'runScheduledDeliverable',
      summary: 'Start a run of a scheduled deliverable now, in addition to its schedule',
      params: idParams,
      response: z.object({ runId: deliverableRunId }),
      status: 202,
      errors: [404, 409, 503],
      audit: ({ params }, { runId }) => ({
        action: 'scheduled-deliverable.run',
        resource: params.id,
        details: { runId },
      }),
    },
    async ({ params: { id }, auth }, ctx) => {
      if ((await find(id)).agent !== undefined) {
        assertMayLaunch(auth, ctx);
      }
      return { runId: await operations.runNow(id, auth) };
    },
  );

  deliverableRunRoutes(routes, context);
}
