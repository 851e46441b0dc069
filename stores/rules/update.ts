import { InvalidOperationError } from '../port/errors';
import { assertId, assertScalarAt, assertStorable } from './document';
import { assertPath } from './paths';
import type { Declaration } from './spec';
import { isPlainObject } from './values';

/** Operators with what they may do to an indexed path: set a value, preserve a scalar, or make an array. */
const operators = {
  $set: 'value',
  $setOnInsert: 'value',
  $min: 'value',
  $max: 'value',
  $inc: 'scalar',
  $mul: 'scalar',
  $unset: 'scalar',
  $push: 'array',
  $addToSet: 'array',
  $pull: 'array',
  $pullAll: 'array',
  $pop: 'array',
} as const;

export type UpdateOperator = keyof typeof operators;
export type Update = Partial<Record<UpdateOperator, Record<string, unknown>>>;

function isOperator(name: string): name is UpdateOperator {
  return Object.hasOwn(operators, name);
}

/** Ensures that indexed paths stay scalar, see `assertScalarAt`. */
function assertKeepsScalars(
  { name, indexedPaths }: Declaration,
  { operator, path, value }: { operator: UpdateOperator; path: string; value: unknown },
) {
  for (const indexed of indexedPaths) {
    const inside = indexed === path ? '' : indexed.startsWith(`${path}.`) ? indexed.slice(path.length + 1) : undefined;
    const effect = operators[operator];
    if (inside !== undefined && effect === 'value') {
      assertScalarAt(name, value, inside);
    }
    if ((inside !== undefined && effect === 'array') || (path.startsWith(`${indexed}.`) && operator !== '$unset')) {
      throw new InvalidOperationError(
        name,
        `${operator} on ${path} would put a list or object on the index ${indexed}.`,
      );
    }
  }
}

/** Refuses two changes of one path, or of nested paths: their order would matter. */
function assertNoConflict(collection: string, update: Update): void {
  const paths = Object.values(update).flatMap((fields) => Object.keys(fields));
  paths.forEach((path, at) => {
    const other = paths.find((each, index) => index !== at && (each === path || each.startsWith(`${path}.`)));
    if (other !== undefined) {
      throw new InvalidOperationError(collection, `${path} and ${other} change the same place.`);
    }
  });
}

/**
 * Verifies an update and returns a copy as JSON has it, without operators that have nothing to do.
 *
 * @throws InvalidOperationError for an operator, path or value that the adapters do not treat alike
 */
export function parseUpdate(declaration: Declaration, update: object): Update {
  const { name } = declaration;
  if (!isPlainObject(update)) {
    throw new InvalidOperationError(name, 'an update is an object of operators.');
  }
  const json = JSON.stringify(update);
  const copy = JSON.parse(json) as Record<string, unknown>;
  assertStorable(name, copy, json);
  const parsed: Update = {};
  for (const [operator, fields] of Object.entries(copy)) {
    if (!isOperator(operator)) {
      throw new InvalidOperationError(name, `the update operator ${operator} is not supported.`);
    }
    if (!isPlainObject(fields)) {
      throw new InvalidOperationError(name, `${operator} needs an object of fields.`);
    }
    for (const [path, value] of Object.entries(fields)) {
      assertPath(name, path);
      if (path === '_id' && operator !== '$setOnInsert') {
        throw new InvalidOperationError(name, '_id never changes.');
      }
      assertKeepsScalars(declaration, { operator, path, value });
    }
    if (Object.keys(fields).length > 0) {
      parsed[operator] = fields;
    }
  }
  if (Object.keys(parsed).length === 0) {
    throw new InvalidOperationError(name, 'the update changes nothing.');
  }
  assertNoConflict(name, parsed);
  return parsed;
}

/**
 * What an upsert's new document starts from.
 *
 * @throws InvalidOperationError when neither the filter nor `$setOnInsert` has the `_id`
 */
export function upsertId(collection: string, equal: [path: string, value: unknown][], update: Update): string {
  const id = equal.find(([path]) => path === '_id')?.[1] ?? update.$setOnInsert?._id;
  assertId(collection, id);
  return id;
}
