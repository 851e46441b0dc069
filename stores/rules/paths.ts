import { InvalidOperationError } from '../port/errors';

/** Segments that every JavaScript object inherits: walking through them would reach, and could change, all objects. */
const inherited = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

const verified = new Set<string>();
const verifiedLimit = 10_000;

/**
 * Refuses a dotted path that means different things to the adapters or reaches outside the document.
 *
 * @throws InvalidOperationError
 */
export function assertPath(collection: string, path: string): void {
  if (verified.has(path)) {
    return;
  }
  for (const segment of path.split('.')) {
    if (segment === '' || segment.startsWith('$') || segment.includes('\0') || inherited.has(segment)) {
      throw new InvalidOperationError(collection, `the path ${JSON.stringify(path)} is not allowed.`);
    }
  }
  if (verified.size < verifiedLimit) {
    verified.add(path);
  }
}
