import {
  type Template,
  template,
  templateDistillation,
  type TemplateFields,
} from '../../../contracts/settings/template';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { Recorded } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';
import { createRecordEditor, type RecordKind } from '../../record-editor';
import { withRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';
import { distilled } from './distill';
import { checkedFields } from './fields';

/** Makes a template from what a run was of (supplement 10.2). */
export function templateDistillationRoutes(
  routes: Routes,
  { attempts, board }: Pick<ApiContext, 'attempts' | 'board'>,
  kind: RecordKind<TemplateFields, Template>,
): void {
  const editor = createRecordEditor(kind);
  routes.add(
    {
      method: 'post',
      path: '/templates/distill-from-run',
      operationId: 'distillTemplate',
      summary: 'Create a draft template from the task and the launch of an ended run',
      tag: 'templates',
      permission: 'settings:write',
      body: templateDistillation,
      response: template,
      status: 201,
      errors: [404, 409],
      audit: ({ body: { runId } }, { id, name }) => ({
        action: 'template.create',
        resource: id,
        details: { name, runId },
      }),
    },
    async ({ body: { runId, name } }, ctx) => {
      const run = await attempts.get(runId);
      assertFound(run, 'run', runId);
      if (run.state !== 'ended') {
        throw conflict(`The run ${runId} has not ended.`, { resourceType: 'run', resourceId: runId, state: run.state });
      }
      const task = await board.get(run.taskId);
      assertFound(task, 'task', run.taskId);
      const fields = checkedFields(distilled(run, task.task, name));
      const record: TemplateFields & Recorded = await editor.create(newItemId('template'), fields);
      return kind.present(withRevision(ctx, kind.type, record));
    },
  );
}
