/** A value as conditions and prompts see it: texts as they are, nothing for what is not there, JSON for the rest. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const path = /^[\p{L}_][\p{L}\p{M}\p{N}_-]*(?:\.[\p{L}\p{M}\p{N}_-]+)*$/u;

/** A name of a value and what leads to a part of it, such as `plan_output.files.0`; `undefined` for anything else. */
export const parsePath = (text: string): string[] | undefined =>
  text.length <= 256 && path.test(text) ? text.normalize('NFC').split('.') : undefined;

/** The part of a value that fields of objects and positions in lists lead to; `undefined` when there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) {
      return undefined;
    }
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
