import { isWellFormed } from '../../platform/text/well-formed';
import { InvalidOperationError } from '../port/errors';
import type { Declaration } from './spec';
import { isScalar } from './values';

const longestId = 1024;

/** Refuses a field name with NUL anywhere inside: BSON cannot carry one. */
function assertFieldNames(collection: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) {
      throw new InvalidOperationError(collection, 'a field name contains NUL.');
    }
    assertFieldNames(collection, inner);
  }
}

/** `json` is the text of `value`; it is what makes the common case, no NUL at all, cheap to see. */
export function assertStorable(collection: string, value: unknown, json: string): void {
  if (json.includes('\\u0000')) {
    assertFieldNames(collection, value);
  }
}

/** @throws InvalidOperationError unless `id` is text that both adapters store and order alike */
export function assertId(collection: string, id: unknown): asserts id is string {
  if (typeof id !== 'string' || id === '' || id.length > longestId || id.includes('\0') || !isWellFormed(id)) {
    throw new InvalidOperationError(collection, '`_id` must be 1 to 1024 characters of text without NUL.');
  }
}

/**
 * Refuses an array or object where `path` leads, and an array on the way. An index on such a value would hold several
 * entries in MongoDB and one in SQL, so queries through it would differ.
 */
export function assertScalarAt(collection: string, value: unknown, path: string): void {
  let current = value;
  for (const segment of path === '' ? [] : path.split('.')) {
    if (Array.isArray(current)) {
      break;
    }
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) {
      return;
    }
    current = (current as Record<string, unknown>)[segment];
  }
  if (current === undefined || isScalar(current)) {
    return;
  }
  throw new InvalidOperationError(collection, `an indexed path must hold text, a number, a boolean or null (${path}).`);
}

/**
 * Verifies a whole document and returns its JSON text.
 *
 * @throws InvalidOperationError
 */
export function documentJson({ name, indexedPaths }: Declaration, document: object): string {
  assertId(name, (document as { _id?: unknown })._id);
  for (const field of Object.keys(document)) {
    if (field.startsWith('$') || field.includes('.') || field === '__proto__') {
      throw new InvalidOperationError(name, `the field name ${JSON.stringify(field)} is not allowed at the top.`);
    }
  }
  for (const path of indexedPaths) {
    assertScalarAt(name, document, path);
  }
  const json = JSON.stringify(document);
  assertStorable(name, document, json);
  return json;
}
