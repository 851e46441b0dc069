import {
  type ManagedItem,
  type ManagedItemCreate,
  type ManagedItemPatch,
  managedListLimit,
} from '../../../contracts/settings/list';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { isSameJson } from '../../../platform/json/same';
import { currentOperation, operationBytes } from '../../../platform/operations/operation';
import { slugOf } from '../../../stores/board-files/format/slug';
import { assertRevision } from '../../revisions';

/** What a refusal calls an item of the list: `project`. */
interface Named {
  resource: string;
}

/** @throws AppError 404 */
export function findItem(items: readonly ManagedItem[], id: string, { resource }: Named): ManagedItem {
  const item = items.find((item) => item.id === id);
  assertFound(item, resource, id);
  return item;
}

const folded = (name: string): string => name.toLowerCase();

/** Tasks name an item by its id or its label: no other item may have either. @throws AppError 409 with the other item */
function assertUnused(items: readonly ManagedItem[], label: string, { resource }: Named): void {
  const taken = items.find((item) => [item.id, item.label].some((name) => folded(name) === folded(label)));
  if (!taken) {
    return;
  }
  throw conflict(`The ${resource} ${JSON.stringify(label)} already exists.`, {
    resourceType: resource,
    resourceId: taken.id,
    current: taken,
  });
}

/** Ids that one new item could have, the best first; made before the change, which may run twice. */
export function idsFor(label: string): string[] {
  const slug = slugOf(label) || 'item';
  return [slug, ...Array.from({ length: 3 }, () => `${slug}-${operationBytes('item', 3).toString('hex')}`)];
}

/** The list with one more item at its end. @throws AppError 409 for a label that is taken, and for a full list */
export function withAdded(
  items: readonly ManagedItem[],
  fields: ManagedItemCreate,
  { ids, at, resource }: Named & { ids: readonly string[]; at: string },
): ManagedItem[] {
  const repeated = currentOperation()?.repeated === true;
  // An earlier try of the same request has added it.
  if (repeated && items.some(({ label, created }) => label === fields.label && created === at)) {
    return [...items];
  }
  assertUnused(items, fields.label, { resource });
  if (items.length >= managedListLimit) {
    throw conflict(`The limit of ${managedListLimit} entries is reached; delete one first.`, { resource });
  }
  const names = new Set(items.flatMap((item) => [folded(item.id), folded(item.label)]));
  const id = ids.find((candidate) => !names.has(candidate));
  if (id === undefined) {
    throw conflict('No id is left for this label; choose another one.', { resource });
  }
  return [...items, { ...fields, id, order: items.length, revision: 1, created: at, updated: at }];
}

interface Changing {
  patch: ManagedItemPatch;
  at: string;
  expectedRevision: number | undefined;
}

/** The list with one item changed. @throws AppError 404, 409 for a label that is taken or a revision that is not current */
export function withChanged(
  items: readonly ManagedItem[],
  id: string,
  { patch, at, expectedRevision, resource }: Named & Changing,
): ManagedItem[] {
  const current = findItem(items, id, { resource });
  assertRevision(resource, current, { expectedRevision });
  const others = items.filter((item) => item !== current);
  if (patch.label !== undefined) {
    assertUnused(others, patch.label, { resource });
  }
  if (isSameJson({ ...current, ...patch }, current)) {
    return [...items];
  }
  const changed = { ...current, ...patch, revision: current.revision + 1, updated: at };
  return items.map((item) => (item === current ? compact(changed) : item));
}

/** The list without one item. @throws AppError 404, 409 */
export function withRemoved(
  items: readonly ManagedItem[],
  id: string,
  { expectedRevision, resource }: Named & { expectedRevision: number | undefined },
): ManagedItem[] {
  const current = findItem(items, id, { resource });
  assertRevision(resource, current, { expectedRevision });
  return items.filter((item) => item !== current);
}

/** The list with some items first, in this order; the others follow in theirs. @throws AppError 400 for ids that are none */
export function reordered(items: readonly ManagedItem[], orderedIds: readonly string[]): ManagedItem[] {
  const issues = orderedIds.flatMap((id, index) => {
    if (orderedIds.indexOf(id) !== index) {
      return [{ path: `orderedIds.${index}`, message: 'is listed twice' }];
    }
    return items.some((item) => item.id === id) ? [] : [{ path: `orderedIds.${index}`, message: 'is not in the list' }];
  });
  if (issues.length > 0) {
    throw validationError(issues.slice(0, 50));
  }
  const place = new Map(orderedIds.map((id, index) => [id, index]));
  const placeOf = ({ id }: ManagedItem): number => place.get(id) ?? orderedIds.length;
  // Sorting is stable: items that are not named stay in order.
  return [...items].sort((a, b) => placeOf(a) - placeOf(b));
}
