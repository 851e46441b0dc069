import { assertFound } from '../../../platform/errors/app-error';
import { newRecordId } from '../../../platform/operations/operation';

/** A part of a task that is stored in one of its lists: a comment, a subtask, a verification step. */
interface Item {
  id: string;
}

/** An id for a new item: `<prefix>_<12 characters>`. */
export const newItemId = (prefix: string): string => newRecordId(prefix);

/** @throws AppError 404 when the list has no such item */
export function findItem<T extends Item>(items: readonly T[] | undefined, id: string, resource: string): T {
  const item = items?.find((item) => item.id === id);
  assertFound(item, resource, id);
  return item;
}

/** The list with one item replaced by what `change` makes of it. @throws AppError 404 */
export function withItemChanged<T extends Item>(
  items: readonly T[] | undefined,
  { id, resource }: { id: string; resource: string },
  change: (item: T) => T,
): T[] {
  const current = findItem(items, id, resource);
  return (items ?? []).map((item) => (item === current ? change(item) : item));
}

/** The list without one item; `undefined` when it is empty then. @throws AppError 404 */
export function withoutItem<T extends Item>(
  items: readonly T[] | undefined,
  id: string,
  resource: string,
): T[] | undefined {
  const current = findItem(items, id, resource);
  const rest = (items ?? []).filter((item) => item !== current);
  return rest.length > 0 ? rest : undefined;
}
