import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import {
  executionQuery,
  hook,
  hookCreate,
  hookExecution,
  hookFire,
  hookFired,
  hookId,
  hookPatch,
  hookQuery,
  type Hook,
  type HookContext,
} from '../../contracts/hook';
import { assertFound } from '../../platform/errors/app-error';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { MessageProofs } from '../../platform/crypto/message-proof';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import { slicePage } from '../../platform/lists/slice';
import { hookFits } from '../../runs/hook-events';
import type { Board } from '../../stores/board-files/types';
import type { HookExecutionStore, HookStore } from '../../stores/hook-store';
import type { HookTimings } from '../../workflows/task-transition/messages';
import { assertRevision, withRevision } from '../config/revisions';
import { newItemId } from '../tasks/items';
import { newHook, patchedHook } from './form';
import { factsOf, startTransition } from './transitions';

const tag = 'hooks';
const byId = z.strictObject({ id: hookId });
const read = { tag, permission: 'settings:read' };
const write = { tag, permission: 'settings:write' };

export interface HookRouteDependencies {
  hooks: HookStore;
  executions: HookExecutionStore;
  board: Pick<Board, 'get'>;
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  timings: HookTimings;
}

/** What is told to others when something happens to a task (specification 1, Lifecycle hooks). */
export function hookRoutes(routes: Routes, context: HookRouteDependencies): void {
  const { hooks, executions, board } = context;

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/hooks',
      operationId: 'listHooks',
      summary: 'List hooks',
      query: hookQuery,
      response: z.array(hook),
    },
    async ({ query: { event, enabled, ...part } }) => {
      const found = (await hooks.list()).filter(
        (each) => (event === undefined || each.event === event) && (enabled === undefined || each.enabled === enabled),
      );
      return slicePage(found, part, ({ id }) => ({ key: id, id }));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/hooks/executions',
      operationId: 'listHookExecutions',
      summary: 'List what came of hooks, the newest first',
      query: executionQuery,
      response: z.array(hookExecution),
    },
    ({ query }) => executions.list(query),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/hooks',
      operationId: 'createHook',
      summary: 'Have something told to a URL when it happens to a task',
      body: hookCreate,
      response: hook,
      status: 201,
      audit: ({ body }, { id }) => ({ action: 'hook.create', resource: id, details: { event: body.event } }),
    },
    async ({ body }, ctx) => withRevision(ctx, tag, await hooks.create(newItemId('hook'), newHook(body))),
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/hooks/:id',
      operationId: 'changeHook',
      summary: 'Change fields of a hook',
      params: byId,
      body: hookPatch,
      response: hook,
      errors: [409],
      audit: ({ params, body }) => ({
        action: 'hook.update',
        resource: params.id,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...patch }, header }, ctx) => {
      const stated = statedRevisions(tag, id, { header, bodyRevision });
      const expected = await expectedRevision(stated, async () => (await hooks.get(id))?.revision);
      const changed = await hooks.change(id, (current) => {
        assertFound(current, 'hook', id);
        assertRevision(tag, current, expected);
        return patchedHook(fieldsOf(current), patch);
      });
      return withRevision(ctx, tag, changed);
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/hooks/:id',
      operationId: 'deleteHook',
      summary: 'Delete a hook; what it was to be told is not told any more',
      params: byId,
      response: z.object({ success: z.literal(true) }),
      audit: ({ params }) => ({ action: 'hook.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await hooks.remove(id))) assertFound(undefined, 'hook', id);
      return { success: true as const };
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/hooks/fire',
      operationId: 'fireHooks',
      summary: 'Run the hooks of an event by hand, for a task as it is now',
      body: hookFire,
      response: hookFired,
      errors: [404],
    },
    async ({ body: { event, taskId, newStatus, ...stated } }) => {
      const found = await board.get(taskId);
      assertFound(found, 'task', taskId);
      const happened: HookContext = {
        ...factsOf(found.task),
        ...withoutUndefined(stated),
        event,
        taskId,
        location: found.location,
        newStatus: newStatus ?? found.task.status,
        timestamp: new Date().toISOString(),
      };
      const fitting = (await hooks.list()).filter((each) => hookFits(each, happened));
      if (fitting.length > 0) await startTransition(context, { id: `fired/${randomUUID()}`, context: happened });
      return { hooksRun: fitting.length, results: fitting.map(({ id, name }) => ({ hookId: id, hookName: name })) };
    },
  );
}

const fieldsOf = ({ id: _id, revision: _r, createdAt: _c, updatedAt: _u, ...fields }: Hook) => fields;
