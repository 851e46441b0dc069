import { isDeepStrictEqual } from 'node:util';

/** Whether two values are the same JSON: fields that are `undefined` are none, and the order of fields does not matter. */
export const isSameJson = (a: unknown, b: unknown): boolean => isDeepStrictEqual(asJson(a), asJson(b));

const asJson = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (JSON.parse(JSON.stringify(value)) as unknown) : value;
