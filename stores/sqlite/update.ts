import * as mingoOperators from 'mingo/operators/update';
import { InvalidOperationError } from '../port/errors';
import type { Update, UpdateOperator } from '../rules/update';
import { isPlainObject } from '../rules/values';
import { addToSet, pull } from './list-operators';

const needsNumber = new Set<string>(['$inc', '$mul'] satisfies UpdateOperator[]);
const needsArray = new Set<string>(['$push', '$addToSet', '$pull', '$pullAll', '$pop'] satisfies UpdateOperator[]);
/** These do not change a document without their path; the others make the path. */
const makesNothing = new Set<string>(['$unset', '$pull', '$pullAll', '$pop'] satisfies UpdateOperator[]);

/** Walks to where a path ends. MongoDB refuses to make a field inside something that is neither object nor array. */
function target(
  collection: string,
  document: object,
  { path, mustBeViable }: { path: string; mustBeViable: boolean },
): unknown {
  let value: unknown = document;
  for (const segment of path.split('.')) {
    const index = Array.isArray(value) && !/^\d+$/.test(segment);
    if (index || typeof value !== 'object' || value === null) {
      if (!mustBeViable) {
        return undefined;
      }
      throw new InvalidOperationError(collection, `${path} leads through a value that has no fields.`);
    }
    if (!Object.hasOwn(value, segment)) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/**
 * One by one: mingo's own `update` rebuilds its table of all expression operators for every call. Mingo types each operator for
 * the fields it takes; `assertFits` and the port's own types have checked them by the time one is called.
 */
const apply = { ...mingoOperators, $addToSet: addToSet, $pull: pull } as unknown as Record<
  Exclude<UpdateOperator, '$setOnInsert'>,
  (fields: Record<string, unknown>) => (document: object) => string[]
>;

/** MongoDB refuses an update that does not fit the value; mingo silently ignores it. */
function assertFits(collection: string, document: object, update: Update): void {
  for (const [operator, fields] of Object.entries(update)) {
    for (const path of Object.keys(fields)) {
      const value = target(collection, document, { path, mustBeViable: !makesNothing.has(operator) });
      if (value === undefined) {
        continue;
      }
      if (
        (needsNumber.has(operator) && typeof value !== 'number') ||
        (needsArray.has(operator) && !Array.isArray(value))
      ) {
        const needed = needsNumber.has(operator) ? 'a number' : 'a list';
        throw new InvalidOperationError(collection, `${operator} needs ${needed} at ${path}.`);
      }
    }
  }
}

/**
 * Applies an update to a document in place, in MongoDB's terms, and returns whether it changed anything. `document` and
 * `update` must be the caller's own copies: values of the update become part of the document.
 *
 * @throws InvalidOperationError when the update does not fit the document
 */
export function applyUpdate(collection: string, document: object, update: Update): boolean {
  const { $setOnInsert: _onInsertOnly, ...changes } = update;
  if (Object.keys(changes).length === 0) {
    return false;
  }
  assertFits(collection, document, changes);
  let changed = false;
  for (const [operator, fields] of Object.entries(changes)) {
    if (apply[operator as keyof typeof apply](fields)(document).length > 0) {
      changed = true;
    }
  }
  return changed;
}

/** The document an upsert makes: the filter's equalities, then the update, then `$setOnInsert`. */
export function upsertDocument(
  collection: string,
  id: string,
  { equal, update }: { equal: [path: string, value: unknown][]; update: Update },
): object {
  const document: Record<string, unknown> = { _id: id };
  const { $setOnInsert: onInsert = {}, ...changes } = update;
  const start = Object.fromEntries(equal.filter(([path]) => path !== '_id'));
  const { _id, ...rest } = onInsert;
  for (const step of [{ $set: start }, changes, { $set: rest }]) {
    if (!isPlainObject(step.$set) || Object.keys(step).length > 1 || Object.keys(step.$set).length > 0) {
      applyUpdate(collection, document, step);
    }
  }
  return document;
}
