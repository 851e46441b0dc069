import {
  transitionHooks,
  transitionHooksPatch,
  transitionHooksWrite,
  transitionQuestion,
  transitionVerdict,
} from '../../../contracts/settings/transition-hook';
import { statusEffects } from '../../../domain/status-effects';
import { judgeTransition } from '../../../domain/transitions/gates';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { createHooksEditor } from './editor';
import { transitionRuleRoutes } from './routes.rules';
import { assertConsistent } from './rules';

const tag = 'transition-hooks';
const path = '/settings/transition-hooks';
const permission = 'admin:manage';

/** Gates before a change of a task's status, and actions after it (specification 1, Mount list). */
export function transitionHookRoutes(routes: Routes, context: Pick<ApiContext, 'board' | 'transitionHooks'>): void {
  const { board, transitionHooks: store } = context;
  const editor = createHooksEditor(store);

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'getTransitionHooks',
      summary: 'Read the rules for changes of a status, stored or the samples',
      tag,
      permission,
      response: transitionHooks,
    },
    async (_input, ctx) => editor.answer(ctx, await store.read()),
  );

  routes.add(
    {
      method: 'put',
      path,
      operationId: 'replaceTransitionHooks',
      summary: 'Replace all rules for changes of a status',
      tag,
      permission,
      body: transitionHooksWrite,
      response: transitionHooks,
      errors: [409],
      audit: ({ body: { enabled, rules } }) => ({
        action: 'transition-hooks.update',
        details: { enabled, rules: rules.length },
      }),
    },
    async ({ body: { expectedRevision: bodyRevision, ...hooks }, header }, ctx) => {
      assertConsistent(hooks);
      return editor.answer(ctx, await editor.change(() => hooks, { header, bodyRevision }));
    },
  );

  routes.add(
    {
      method: 'patch',
      path,
      operationId: 'patchTransitionHooks',
      summary: 'Update the switch, the rules or the defaults for changes of a status',
      tag,
      permission,
      body: transitionHooksPatch,
      response: transitionHooks,
      errors: [409],
      audit: ({ body }) => ({ action: 'transition-hooks.update', details: { fields: Object.keys(body) } }),
    },
    async ({ body: { expectedRevision: bodyRevision, ...patch }, header }, ctx) =>
      editor.answer(
        ctx,
        await editor.change((current) => assertConsistent({ ...current, ...compact(patch) }), { header, bodyRevision }),
      ),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/validate`,
      operationId: 'validateTransition',
      summary: 'Evaluate the gates for a change of a status, without making it',
      tag,
      permission,
      body: transitionQuestion,
      response: transitionVerdict,
      errors: [404],
    },
    async ({ body: { taskId, toStatus: status } }) => {
      const found = await board.get(taskId);
      assertFound(found, 'task', taskId);
      const { task } = found;
      const { value: hooks } = await store.read();
      return judgeTransition(hooks, task.status, { ...task, ...statusEffects(status, task), status });
    },
  );

  transitionRuleRoutes(routes, context);
}
