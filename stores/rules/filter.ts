import { InvalidOperationError } from '../port/errors';
import { assertPath } from './paths';
import { isPlainObject, isScalar, type Scalar } from './values';

export type RangeOperator = '$gt' | '$gte' | '$lt' | '$lte';

/** One condition of a filter. All clauses of a list apply at once. */
export type Clause =
  | { kind: 'equal'; path: string; value: Scalar }
  | { kind: 'in'; path: string; values: Scalar[] }
  | { kind: 'range'; path: string; operator: RangeOperator; value: string | number }
  | { kind: 'exists'; path: string; exists: boolean }
  | { kind: 'either'; branches: Clause[][] }
  /** Anything an index does not help with; only evaluated document by document. `unequal` is all it means where it is there. */
  | { kind: 'other'; path: string; unequal?: Scalar[] };

const ranges = new Set<string>(['$gt', '$gte', '$lt', '$lte'] satisfies RangeOperator[]);
const others = new Set(['$ne', '$nin', '$not', '$regex', '$options', '$elemMatch', '$size', '$all', '$mod', '$type']);

function isOperators(value: unknown): value is Record<string, unknown> {
  return isPlainObject(value) && Object.keys(value).some((key) => key.startsWith('$'));
}

/** Refuses what JSON cannot hold anywhere in a filter: `undefined` above all, which would match far too much. */
function assertValue(collection: string, path: string, value: unknown): void {
  if (isScalar(value) || value instanceof RegExp) {
    return;
  }
  if (Array.isArray(value)) {
    for (const inner of value) {
      assertValue(collection, path, inner);
    }
  } else if (isPlainObject(value)) {
    for (const inner of Object.values(value)) {
      assertValue(collection, path, inner);
    }
  } else {
    throw new InvalidOperationError(collection, `the filter on ${path} compares with a value that is not JSON.`);
  }
}

function operatorClause(
  collection: string,
  { path, operator, value }: { path: string; operator: string; value: unknown },
): Clause {
  if (operator === '$eq') {
    return isScalar(value) ? { kind: 'equal', path, value } : { kind: 'other', path };
  }
  if (operator === '$in') {
    if (!Array.isArray(value)) {
      throw new InvalidOperationError(collection, `$in on ${path} needs a list.`);
    }
    return value.every(isScalar) ? { kind: 'in', path, values: value } : { kind: 'other', path };
  }
  if (ranges.has(operator)) {
    return typeof value === 'string' || typeof value === 'number'
      ? { kind: 'range', path, operator: operator as RangeOperator, value }
      : { kind: 'other', path };
  }
  if (operator === '$exists') {
    if (typeof value !== 'boolean') {
      throw new InvalidOperationError(collection, `$exists on ${path} needs a boolean.`);
    }
    return { kind: 'exists', path, exists: value };
  }
  if (operator === '$ne' && isScalar(value)) {
    return { kind: 'other', path, unequal: [value] };
  }
  if (operator === '$nin' && Array.isArray(value) && value.every(isScalar)) {
    return { kind: 'other', path, unequal: value };
  }
  if (others.has(operator)) {
    return { kind: 'other', path };
  }
  throw new InvalidOperationError(collection, `the operator ${operator} is not supported.`);
}

function listOf(collection: string, operator: string, value: unknown): object[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isPlainObject)) {
    return value;
  }
  throw new InvalidOperationError(collection, `${operator} needs a list of filters.`);
}

/**
 * Reads a MongoDB filter into clauses.
 *
 * @throws InvalidOperationError for an operator, path or value that the adapters do not treat alike
 */
export function parseFilter(collection: string, filter: object): Clause[] {
  const clauses: Clause[] = [];
  for (const [key, value] of Object.entries(filter as Record<string, unknown>)) {
    if (key === '$and') {
      for (const part of listOf(collection, key, value)) {
        clauses.push(...parseFilter(collection, part));
      }
    } else if (key === '$or') {
      const branches = listOf(collection, key, value).map((branch) => parseFilter(collection, branch));
      clauses.push({ kind: 'either', branches });
    } else if (key === '$nor') {
      for (const part of listOf(collection, key, value)) {
        parseFilter(collection, part);
      }
      clauses.push({ kind: 'other', path: key });
    } else {
      assertPath(collection, key);
      assertValue(collection, key, value);
      const operators = isOperators(value) ? value : { $eq: value };
      for (const [operator, operand] of Object.entries(operators)) {
        clauses.push(
          operand instanceof RegExp
            ? { kind: 'other', path: key }
            : operatorClause(collection, { path: key, operator, value: operand }),
        );
      }
    }
  }
  return clauses;
}

/** The fields that a filter fixes to one value: what an upsert starts its new document from. */
export function equalities(clauses: Clause[]): [path: string, value: Scalar][] {
  return clauses.flatMap((clause) => (clause.kind === 'equal' ? [[clause.path, clause.value]] : []));
}
