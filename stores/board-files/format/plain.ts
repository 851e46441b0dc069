import { wellFormed } from '../../../platform/text/well-formed';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parts of tasks that {@link frozenPlain} has made read-only. */
const plainValues = new WeakSet();

/** Whether {@link frozenPlain} has made it, so that it need not be copied, validated or compared again while it is the same object. */
export const isPlain = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && plainValues.has(value);

/** The value without what a UTF-8 file cannot represent: fields that are `undefined`, halves of surrogate pairs. */
export function plain(value: unknown): unknown {
  if (typeof value === 'string') {
    return wellFormed(value);
  }
  if (isPlain(value)) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (!isRecord(value)) {
    return value;
  }
  const defined = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(defined.map(([name, field]) => [name, plain(field)]));
}

/** `raw` with what validation added to it; validated objects alone would lack nested fields outside the schema. */
export function withDefaultsFrom(raw: unknown, validated: unknown): unknown {
  if (Array.isArray(raw) && Array.isArray(validated)) {
    return validated.map((item, index) => withDefaultsFrom(raw[index], item));
  }
  if (!isRecord(raw) || !isRecord(validated)) {
    return validated;
  }
  const names = new Set([...Object.keys(raw), ...Object.keys(validated)]);
  return Object.fromEntries(
    [...names].map((name) => [name, name in validated ? withDefaultsFrom(raw[name], validated[name]) : raw[name]]),
  );
}

/** Makes what is `plain`, and belongs to a valid task, read-only, and recognisable to {@link isPlain} with everything in it. */
export function frozenPlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null || plainValues.has(value)) {
    return value;
  }
  for (const field of Object.values(value)) {
    frozenPlain(field);
  }
  plainValues.add(value);
  return Object.freeze(value);
}

/** Makes a value and everything in it read-only, since the index returns what it stores. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) {
    return value;
  }
  for (const field of Object.values(value)) {
    deepFreeze(field);
  }
  return Object.freeze(value);
}
