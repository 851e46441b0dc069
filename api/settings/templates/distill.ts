import { templateCreate, type TemplateFields } from '../../../contracts/settings/template';
import type { Task } from '../../../contracts/tasks/task';
import { conflict } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

type Run = Pick<AttemptRecord, '_id' | 'agent' | 'request' | 'taskId'>;

/**
 * The template of a task as it is now, and of the launch of one of its runs. Steps are open again, and nothing that the run did
 * or produced is part of it.
 *
 * @throws AppError 409 when the task has more than a template can have
 */
export function distilled({ _id, agent, request, taskId }: Run, task: Task, name = task.title): TemplateFields {
  const { profileId, sandboxPresetId, model } = request;
  const steps = task.subtasks.map(({ title, acceptanceCriteria }, order) =>
    compact({ title, order, acceptanceCriteria }),
  );
  const fields = compact({
    name,
    description: `Distilled from the run ${_id} on the task ${taskId}`,
    category: 'draft',
    taskDefaults: compact({
      type: task.type,
      priority: task.priority,
      project: task.project,
      descriptionTemplate: task.description === '' ? undefined : task.description,
      agent,
    }),
    subtaskTemplates: steps.length > 0 ? steps : undefined,
    launch: compact({ agent, profileId, sandboxPresetId, model }),
  });
  const { success, data, error } = templateCreate.safeParse(fields);
  if (!success) {
    throw conflict('The task has what no template can have; create the template from a part of it.', {
      resourceType: 'task',
      resourceId: taskId,
      issues: error.issues.slice(0, 50).map(({ path, message }) => ({ path: path.join('.'), message })),
    });
  }
  return data;
}
