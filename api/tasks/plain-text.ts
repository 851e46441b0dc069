import type { TaskCreate, TaskPatch } from '../../contracts/task';
import { validationError } from '../../platform/errors/app-error';

/** A tag, a closing tag or a comment; `a < b` and `x <- y` are none. */
const tag = /<(?:!--[^]*?-->|\/?[a-zA-Z][^<>]*>)/g;

/** Removes HTML tags, also those that appear once others are removed. Texts are at most a few thousand characters. */
export function withoutTags(text: string): string {
  let before: string;
  let after = text;
  do {
    before = after;
    after = before.replace(tag, '');
  } while (after !== before);
  return after.trim();
}

/** Text of one field with HTML tags removed. @throws AppError 400 with the field when nothing is left */
export function plainField(text: string, path: string): string {
  const plain = withoutTags(text);
  if (plain === '')
    throw validationError([{ path, message: 'must have text besides tags and spaces', code: 'too_small' }]);
  return plain;
}

/**
 * The request with HTML tags removed from its titles. Descriptions are markdown and stay as they are: whoever renders
 * them must not trust them.
 *
 * @param path where in the body the request is, e.g. `updates.`
 * @throws AppError `VALIDATION_ERROR` 400 when nothing is left of a title
 */
export function withPlainTitles<T extends TaskCreate | TaskPatch>(request: T, path = ''): T {
  return {
    ...request,
    ...(request.title === undefined ? {} : { title: plainField(request.title, `${path}title`) }),
    ...(request.subtasks && {
      subtasks: request.subtasks.map((subtask, index) => ({
        ...subtask,
        title: plainField(subtask.title, `${path}subtasks.${index}.title`),
      })),
    }),
  };
}
