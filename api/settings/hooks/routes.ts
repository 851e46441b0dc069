import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  executionQuery,
  hook,
  type HookContext,
  hookCreate,
  hookExecution,
  hookFire,
  hookFired,
  hookId,
  hookPatch,
  hookQuery,
} from '../../../contracts/settings/hook';
import { hookFits } from '../../../domain/hook-events';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { firedPrefix } from '../../../workflows/deliver-hooks/messages';
import type { WorkflowContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { newHook, patchedHook } from './form';
import { factsOf } from './transitions';

const tag = 'hooks';
const idParams = z.strictObject({ id: hookId });
const read = { tag, permission: 'settings:read' };
const write = { tag, permission: 'settings:write' };

type HookRouteContext = Pick<WorkflowContext, 'board' | 'hookExecutions' | 'hooks' | 'startTransition'>;

/** What is published when a task changes (specification 1, Lifecycle hooks). */
export function hookRoutes(routes: Routes, context: HookRouteContext): void {
  const { board, hookExecutions, startTransition } = context;
  const hooks = recordRoutes(routes, {
    records: context.hooks,
    resource: 'hook',
    type: tag,
    resourceType: tag,
    path: '/hooks',
    id: 'id',
    params: idParams,
    response: hook,
    permissions: { read: read.permission, write: write.permission },
    present: (record) => record,
  });

  hooks.list(
    { operationId: 'listHooks', summary: 'List hooks', query: hookQuery, response: z.array(hook) },
    (all, { event, enabled, ...part }) => {
      const matching = all.filter(
        (each) => (event === undefined || each.event === event) && (enabled === undefined || each.enabled === enabled),
      );
      return slicePage(matching, part, { positionOf: ({ id }) => ({ key: id, id }) });
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/hooks/executions',
      operationId: 'listHookExecutions',
      summary: 'List hook executions, newest first',
      query: executionQuery,
      response: z.array(hookExecution),
    },
    ({ query }) => hookExecutions.list(query),
  );

  hooks.create(
    {
      operationId: 'createHook',
      summary: 'Create a hook that calls a URL on task events',
      body: hookCreate,
      errors: [],
      audit: { action: 'hook.create', details: ({ event }) => ({ event }) },
    },
    (body) => ({ id: newItemId('hook'), fields: newHook(body) }),
  );

  hooks.patch(
    {
      operationId: 'changeHook',
      summary: 'Update a hook',
      body: hookPatch,
      audit: { action: 'hook.update', details: (body) => ({ fields: Object.keys(body) }) },
    },
    (patch) => (current) => patchedHook(current, patch),
  );

  // Existing clients expect a body, and state no revision.
  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/hooks/:id',
      operationId: 'deleteHook',
      summary: 'Delete a hook and discard its pending deliveries',
      params: idParams,
      response: z.object({ success: z.literal(true) }),
      audit: ({ params }) => ({ action: 'hook.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await context.hooks.remove(id))) {
        assertFound(undefined, 'hook', id);
      }
      return { success: true as const };
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/hooks/fire',
      operationId: 'fireHooks',
      summary: 'Fire the hooks of an event for a task in its current state',
      body: hookFire,
      response: hookFired,
      errors: [404, 503],
      audit: ({ body: { event, taskId } }, { hooksRun }) => ({
        action: 'hook.fire',
        resource: taskId,
        details: { event, hooksRun },
      }),
    },
    async ({ body: { event, taskId, newStatus, ...stated } }) => {
      const task = await board.get(taskId);
      assertFound(task, 'task', taskId);
      const happened: HookContext = {
        ...factsOf(task.task),
        ...compact(stated),
        event,
        taskId,
        location: task.location,
        newStatus: newStatus ?? task.task.status,
        timestamp: new Date().toISOString(),
      };
      const fitting = (await context.hooks.list()).filter((each) => hookFits(each, happened));
      if (fitting.length > 0) {
        await startTransition({ id: `${firedPrefix}${randomUUID()}`, context: happened });
      }
      return { hooksRun: fitting.length, results: fitting.map(({ id, name }) => ({ hookId: id, hookName: name })) };
    },
  );
}
