import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type Template,
  template,
  templateApplication,
  templateCreate,
  type TemplateFields,
  templateId,
  templatePatch,
} from '../../../contracts/settings/template';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { Recorded } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { newItemId } from '../../tasks/tasks/items';
import { checkedFields } from './fields';
import { templateDistillationRoutes } from './routes.distill';

/** Limit of one list. */
const maxTemplates = 500;

function present({ revision, createdAt, updatedAt, ...fields }: TemplateFields & Recorded): Template {
  return { ...fields, version: revision, created: createdAt, updated: updatedAt };
}

/** Templates of tasks (specification 1, Mount list). Clients fill them in; the service stores them. */
export function templateRoutes(
  routes: Routes,
  { templates: records, board, activity, attempts }: Pick<ApiContext, 'templates' | 'board' | 'activity' | 'attempts'>,
): void {
  const kind = { records, resource: 'template', type: 'templates', max: maxTemplates, present };
  const templates = recordRoutes(routes, {
    ...kind,
    path: '/templates',
    id: 'id',
    params: z.strictObject({ id: templateId }),
    response: template,
    permissions: { read: 'settings:read', write: 'settings:write' },
  });

  templates.list(
    { operationId: 'listTemplates', summary: 'List templates by name', response: z.array(template) },
    (all) => all.map(present).sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id)),
  );

  templates.get({ operationId: 'getTemplate', summary: 'Read a template' });

  templates.create(
    {
      operationId: 'createTemplate',
      summary: 'Create a template',
      body: templateCreate,
      audit: { action: 'template.create', details: ({ name }) => ({ name }) },
    },
    (body) => ({ id: newItemId('template'), fields: checkedFields(body) }),
  );

  templates.patch(
    {
      operationId: 'changeTemplate',
      summary: 'Update a template; each field is replaced as a whole',
      body: templatePatch,
      audit: { action: 'template.update', details: (body) => ({ fields: Object.keys(body) }) },
    },
    (patch) => {
      const change = checkedFields(patch);
      return (current) => compact({ ...current, ...change });
    },
  );

  templateDistillationRoutes(routes, { attempts, board }, kind);

  templates.remove({
    operationId: 'deleteTemplate',
    summary: 'Delete a template; tasks created from it remain',
    audit: { action: 'template.delete' },
  });

  routes.add(
    {
      method: 'post',
      path: '/tasks/:taskId/apply-template',
      operationId: 'applyTemplate',
      summary: 'Record the use of a template for a task; the caller changes the task',
      tag: 'templates',
      permission: 'task:write',
      params: z.strictObject({ taskId }),
      body: templateApplication,
      response: z.object({ success: z.literal(true) }),
      errors: [409],
    },
    async ({ params, body, auth }) => {
      const task = await board.get(params.taskId);
      assertFound(task, 'task', params.taskId);
      const { id, name, revision } = await templates.find(body.templateId);
      const { title } = task.task;
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
