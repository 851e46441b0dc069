import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { transitionRule, transitionRuleCreate, transitionRuleWrite } from '../../../contracts/settings/transition-hook';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { createHooksEditor } from './editor';
import { consistentRule, findRule, withoutRule, withRule, withRuleReplaced } from './rules';

const permission = 'admin:manage';
const common = { tag: 'transition-hooks', permission };
const path = '/settings/transition-hooks/rules';
const params = z.strictObject({ id: slug });

/** One rule for changes of a status. Its revision is that of all rules. */
export function transitionRuleRoutes(
  routes: Routes,
  { transitionHooks: store }: Pick<ApiContext, 'transitionHooks'>,
): void {
  const editor = createHooksEditor(store);

  routes.add(
    {
      ...common,
      method: 'post',
      path,
      operationId: 'createTransitionRule',
      summary: 'Create a rule for changes of a status',
      body: transitionRuleCreate,
      response: transitionRule,
      status: 201,
      errors: [409],
      audit: (_input, { id }) => ({ action: 'transition-hooks.rule.create', resource: id }),
    },
    async ({ body: { id = newItemId('rule'), expectedRevision: bodyRevision, ...sent }, header }, ctx) => {
      const rule = consistentRule(id, sent);
      return findRule(editor.answer(ctx, await editor.change(withRule(rule), { header, bodyRevision })), id);
    },
  );

  routes.add(
    {
      ...common,
      method: 'get',
      path: `${path}/:id`,
      operationId: 'getTransitionRule',
      summary: 'Read one rule for changes of a status',
      params,
      response: transitionRule,
    },
    async ({ params: { id } }, ctx) => findRule(editor.answer(ctx, await store.read()), id),
  );

  routes.add(
    {
      ...common,
      method: 'put',
      path: `${path}/:id`,
      operationId: 'putTransitionRule',
      summary: 'Replace a rule for changes of a status',
      params,
      body: transitionRuleWrite,
      response: transitionRule,
      errors: [409],
      audit: ({ params: { id } }) => ({ action: 'transition-hooks.rule.update', resource: id }),
    },
    async ({ params: { id }, body: { id: sentId = id, expectedRevision: bodyRevision, ...sent }, header }, ctx) => {
      if (sentId !== id) {
        throw validationError([{ path: 'id', message: 'is not the id of the path: a rule keeps its id' }]);
      }
      const rule = consistentRule(id, sent);
      return findRule(editor.answer(ctx, await editor.change(withRuleReplaced(rule), { header, bodyRevision })), id);
    },
  );

  routes.add(
    {
      ...common,
      method: 'delete',
      path: `${path}/:id`,
      operationId: 'deleteTransitionRule',
      summary: 'Delete a rule for changes of a status',
      params,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params: { id } }) => ({ action: 'transition-hooks.rule.delete', resource: id }),
    },
    async ({ params: { id }, header }) => {
      await editor.change(withoutRule(id), { header });
      return undefined;
    },
  );
}
