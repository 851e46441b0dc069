import type { TemplateFields } from '../../../contracts/settings/template';
import { type FieldIssue, validationError } from '../../../platform/errors/app-error';
import { plainField } from '../../tasks/tasks/plain-text';

type Subtasks = TemplateFields['subtaskTemplates'];
type Blueprint = NonNullable<TemplateFields['blueprint']>;

const plainSubtasks = (subtasks: NonNullable<Subtasks>, path: string): NonNullable<Subtasks> =>
  subtasks.map((subtask, index) => ({ ...subtask, title: plainField(subtask.title, `${path}.${index}.title`) }));

const plainBlueprint = (blueprint: Blueprint): Blueprint =>
  blueprint.map((step, index) => ({
    ...step,
    title: plainField(step.title, `blueprint.${index}.title`),
    ...(step.subtaskTemplates && {
      subtaskTemplates: plainSubtasks(step.subtaskTemplates, `blueprint.${index}.subtaskTemplates`),
    }),
  }));

/**
 * The request with HTML tags removed from its names and titles.
 *
 * @throws AppError 400 when one is empty then, or the tasks of the blueprint do not fit together
 */
export function checkedFields<T extends Partial<TemplateFields>>(request: T): T {
  const { name, subtaskTemplates, blueprint } = request;
  if (blueprint) {
    assertFitting(blueprint);
  }
  return {
    ...request,
    ...(name !== undefined && { name: plainField(name, 'name') }),
    ...(subtaskTemplates && { subtaskTemplates: plainSubtasks(subtaskTemplates, 'subtaskTemplates') }),
    ...(blueprint && { blueprint: plainBlueprint(blueprint) }),
  };
}

/** Every task has a reference of its own, and waits for others of the blueprint that do not wait for it. */
function assertFitting(blueprint: Blueprint): void {
  const refs = blueprint.map(({ refId }) => refId);
  const issues: FieldIssue[] = blueprint.flatMap(({ refId, blockedByRefs = [] }, index) => [
    ...(refs.indexOf(refId) === index ? [] : [{ path: `blueprint.${index}.refId`, message: 'is used twice' }]),
    ...blockedByRefs.flatMap((ref, at) =>
      refs.includes(ref)
        ? []
        : [{ path: `blueprint.${index}.blockedByRefs.${at}`, message: 'is not a task of the template' }],
    ),
  ]);
  if (issues.length === 0 && isCircular(blueprint)) {
    issues.push({ path: 'blueprint', message: 'has tasks that depend on each other' });
  }
  if (issues.length > 0) {
    throw validationError(issues.slice(0, 50));
  }
}

/** Whether some tasks are left when all are taken away, again and again, that wait for nothing that is left. */
function isCircular(blueprint: Blueprint): boolean {
  let left = blueprint;
  for (;;) {
    const refs = new Set(left.map(({ refId }) => refId));
    const waiting = left.filter(({ blockedByRefs = [] }) => blockedByRefs.some((ref) => refs.has(ref)));
    if (waiting.length === left.length) {
      return left.length > 0;
    }
    left = waiting;
  }
}
