import { JsonLimitError, parseBoundedJson } from './bounded';

/** Fewer levels than every store takes, with room for the record around the value. */
const limits = { depth: 64, values: 100_000, nameLength: 1_000 };

/** Whether a text or a name contains NUL; an escaped backslash in front of `u0000` is none. */
const containsNul = (json: string): boolean => json.replaceAll('\\\\', '').includes('\\u0000');

/**
 * Reads JSON of a model, an agent or a program that becomes part of a record, as every store can hold it.
 *
 * @throws JsonLimitError when it is nested deeper, has more values or longer names than a record may have, or contains NUL
 * @throws SyntaxError when it is no JSON
 */
export function parseStorableJson(text: string): unknown {
  const value = parseBoundedJson(text, limits);
  if (containsNul(JSON.stringify(value))) {
    throw new JsonLimitError('It contains NUL.');
  }
  return value;
}
