import { isWellFormed } from '../text/well-formed';

/** JSON writes half of a surrogate pair as this escape alone; in UTF-8 there is none. */
const escaped = /\\ud[89a-f]/i;

/**
 * Looks for a text, or the name of a field, that has half of a character: what stores and prints it makes another text of it.
 *
 * @param json what the value was read from
 * @param value nested no deeper than a body may be
 * @returns the path to the first one; `undefined` when there is none
 */
export const findHalfCharacter = (json: string, value: unknown): string | undefined =>
  escaped.test(json) ? pathIn(value, []) : undefined;

function pathIn(value: unknown, path: readonly string[]): string | undefined {
  if (typeof value === 'string') {
    return isWellFormed(value) ? undefined : path.join('.');
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  for (const [key, child] of Object.entries(value) as [string, unknown][]) {
    if (!isWellFormed(key)) {
      return path.join('.');
    }
    const found = pathIn(child, [...path, key]);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
