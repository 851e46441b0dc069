import type { Subtask, SubtaskInput } from '../../../contracts/tasks/subtask';
import { validationError } from '../../../platform/errors/app-error';
import { operationTime } from '../../../platform/operations/operation';
import { withoutTags } from '../../../platform/text/without-tags';
import { newItemId } from './items';

/** Text of one field with HTML tags removed. @throws AppError 400 with the field when it is empty then */
export function plainField(text: string, path: string): string {
  const plain = withoutTags(text);
  if (plain === '') {
    throw validationError([{ path, message: 'must have text besides tags and spaces', code: 'too_small' }]);
  }
  return plain;
}

/**
 * The request with HTML tags removed from its titles, and with an id for each step that has none. Descriptions are markdown and
 * stay unchanged: renderers must not trust them.
 *
 * @param path where in the body the request is, e.g. `updates.`
 * @throws AppError `VALIDATION_ERROR` 400 when a title is empty then
 */
export function withPlainTitles<T extends { title?: string | undefined; subtasks?: SubtaskInput[] | undefined }>(
  { subtasks, ...request }: T,
  path = '',
): Omit<T, 'subtasks'> & { subtasks?: Subtask[] } {
  return {
    ...request,
    ...(request.title === undefined ? {} : { title: plainField(request.title, `${path}title`) }),
    ...(subtasks && {
      subtasks: subtasks.map((subtask, index) => ({
        ...withId(subtask),
        title: plainField(subtask.title, `${path}subtasks.${index}.title`),
      })),
    }),
  };
}

const withId = ({ id, ...subtask }: SubtaskInput): Subtask =>
  id === undefined
    ? { created: operationTime().toISOString(), ...subtask, id: newItemId('subtask') }
    : { ...subtask, id };
