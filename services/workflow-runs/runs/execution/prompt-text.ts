import { valueAt, valueText } from '../../graph/values';

/** A text that is one value and nothing else. */
const wholeValue = /^\$\{([\p{L}\p{M}\p{N}_.-]{1,256})\}$/u;

/** A prompt may have this much once its values are in it. */
export const maxPromptCharacters = 100_000;

/** `$goal`, and `${name}` or `${name.field}` for a value of the run; what is not there is nothing. `$$` is a dollar sign. */
export function fillIn(text: string, goal: string | undefined, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\$\$|\$goal\b|\$\{([\p{L}\p{M}\p{N}_.-]{1,256})\}/gu, (match, written: string | undefined) => {
    if (match === '$$') {
      return '$';
    }
    if (written === undefined) {
      return goal ?? '';
    }
    const name = written.normalize('NFC');
    return valueText(name === 'goal' ? goal : valueAt(values, name.split('.')));
  });
}

/**
 * The arguments of a tool with the values of the run in their texts. A text that is `${name}` alone becomes the value itself, of
 * whatever type; a field whose value is not there is left out.
 */
export function filledArguments(
  template: Record<string, unknown>,
  goal: string | undefined,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const [, name] = wholeValue.exec(value) ?? [];
      return name === undefined || name === 'goal'
        ? fillIn(value, goal, values)
        : valueAt(values, name.normalize('NFC').split('.'));
    }
    if (Array.isArray(value)) {
      return value.map((each) => filled(each) ?? null);
    }
    return typeof value === 'object' && value !== null ? fields(value) : value;
  };
  const fields = (object: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]) => {
        const own = filled(value);
        return own === undefined ? [] : [[name, own] as const];
      }),
    );
  return fields(template);
}
