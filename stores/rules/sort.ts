import type { Sort } from '../port/query-plan';
import { isScalar, valueAt } from './values';

/** MongoDB's order of types, as far as JSON has them. */
function rank(value: unknown): number {
  if (value === undefined || value === null) {
    return 0;
  }
  if (typeof value === 'number') {
    return 1;
  }
  if (typeof value === 'string') {
    return 2;
  }
  if (typeof value === 'boolean') {
    return 5;
  }
  return Array.isArray(value) ? 4 : 3;
}

function compareText(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  // Bytes of UTF-8, as both stores order text; JavaScript's own comparison orders UTF-16 units.
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function compareValues(a: unknown, b: unknown): number {
  const types = rank(a) - rank(b);
  if (types !== 0) {
    return types;
  }
  if (rank(a) === 0) {
    return 0;
  }
  if (typeof a === 'string') {
    return compareText(a, b as string);
  }
  if (isScalar(a) && isScalar(b)) {
    return Number(a) - Number(b);
  }
  return compareText(JSON.stringify(a), JSON.stringify(b));
}

/** Compares documents as the stores' own sort does. */
export function comparator(sort: Sort): (a: object, b: object) => number {
  const keys = Object.entries(sort);
  return (a, b) => {
    for (const [path, direction] of keys) {
      const order = compareValues(valueAt(a, path), valueAt(b, path));
      if (order !== 0) {
        return order * direction;
      }
    }
    return 0;
  };
}
