import { valueAt, valueText } from '../../graph/values';

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
