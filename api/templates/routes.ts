import { z } from 'zod';
import { taskId } from '../../contracts/common';
import {
  template,
  templateApplication,
  templateCreate,
  templateId,
  templatePatch,
  type Template,
  type TemplateFields,
} from '../../contracts/template';
import { assertFound, conflict, notFound } from '../../platform/errors/app-error';
import { expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import type { Recorded } from '../../stores/configured-records';
import { assertRevision, withRevision } from '../config/revisions';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { checkedFields } from './fields';

const tag = 'templates';
const byId = z.strictObject({ id: templateId });
const read = { tag, permission: 'settings:read' };
const write = { tag, permission: 'settings:write', errors: [409] };

/** As many as one list answers. */
const maxTemplates = 500;

function present({ revision, createdAt, updatedAt, ...fields }: TemplateFields & Recorded): Template {
  return { ...fields, version: revision, created: createdAt, updated: updatedAt };
}

const fieldsOf = ({ revision: _r, createdAt: _c, updatedAt: _u, id: _id, ...fields }: TemplateFields & Recorded) =>
  fields;

/** What tasks are made from (specification 1, Mount list). Clients fill them in; the service keeps them. */
export function templateRoutes(
  routes: Routes,
  { templates, board, activity }: Pick<ApiContext, 'templates' | 'board' | 'activity'>,
): void {
  async function find(id: string): Promise<TemplateFields & Recorded> {
    const found = await templates.get(id);
    assertFound(found, 'template', id);
    return found;
  }

  const stated = (
    { id }: { id: string },
    header: (name: string) => string | undefined,
    bodyRevision?: number,
  ): Promise<number | undefined> =>
    expectedRevision(statedRevisions(tag, id, { header, bodyRevision }), async () => (await find(id)).revision);

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/templates',
      operationId: 'listTemplates',
      summary: 'List the templates by name',
      response: z.array(template),
    },
    async () => {
      const all = (await templates.list()).map(present);
      return all.sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/templates/:id',
      operationId: 'getTemplate',
      summary: 'Read one template',
      params: byId,
      response: template,
    },
    async ({ params }, ctx) => present(withRevision(ctx, tag, await find(params.id))),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/templates',
      operationId: 'createTemplate',
      summary: 'Make a template',
      body: templateCreate,
      response: template,
      status: 201,
    },
    async ({ body }, ctx) => {
      const fields = checkedFields(body);
      if ((await templates.list()).length >= maxTemplates)
        throw conflict(`There may be at most ${maxTemplates} templates.`, { resourceType: 'template' });
      return present(withRevision(ctx, tag, await templates.create(newItemId('template'), fields)));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/templates/:id',
      operationId: 'changeTemplate',
      summary: 'Change fields of a template, each as a whole',
      params: byId,
      body: templatePatch,
      response: template,
    },
    async ({ params, body: { expectedRevision: bodyRevision, ...patch }, header }, ctx) => {
      const change = checkedFields(patch);
      const expected = await stated(params, header, bodyRevision);
      const changed = await templates.change(params.id, (current) => {
        assertFound(current, 'template', params.id);
        assertRevision('template', current, expected, present(current));
        return withoutUndefined({ ...fieldsOf(current), ...change });
      });
      return present(withRevision(ctx, tag, changed));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/templates/:id',
      operationId: 'deleteTemplate',
      summary: 'Delete a template; tasks made from it stay as they are',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'template.delete', resource: params.id }),
    },
    async ({ params: { id }, header }) => {
      const expected = await stated({ id }, header);
      const current = await find(id);
      assertRevision('template', current, expected, present(current));
      if (!(await templates.remove(id, expected))) throw notFound('template', id);
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/tasks/:taskId/apply-template',
      operationId: 'applyTemplate',
      summary: 'Say that a template was applied to a task; changing the task is up to who says so',
      tag,
      permission: 'task:write',
      params: z.strictObject({ taskId }),
      body: templateApplication,
      response: z.object({ success: z.literal(true) }),
      errors: [409],
    },
    async ({ params, body, auth }) => {
      const found = await board.get(params.taskId);
      assertFound(found, 'task', params.taskId);
      const { id, name, revision } = await find(body.templateId);
      const { title } = found.task;
      const details = {
        templateId: id,
        templateName: name,
        version: revision,
        fieldsChanged: body.fieldsChanged ?? [],
      };
      const { actor } = auth;
      await activity.record([{ type: 'template_applied', taskId: params.taskId, taskTitle: title, actor, details }]);
      return { success: true as const };
    },
  );
}
