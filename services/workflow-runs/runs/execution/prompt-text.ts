import { valueText } from '../../graph/condition';
import type { RunRecord } from '../run';

/** A prompt may have this much once its values are in it. */
export const maxPromptCharacters = 100_000;

/** `$goal`, and `${name}` for a value of the run; what is not there is nothing. `$$` is a dollar sign. */
export function fillIn(text: string, goal: string | undefined, values: Readonly<Record<string, unknown>>): string {
  return text.replace(/\$\$|\$goal\b|\$\{([\p{L}\p{M}\p{N}_-]{1,128})\}/gu, (match, written: string | undefined) => {
    if (match === '$$') {
      return '$';
    }
    if (written === undefined) {
      return goal ?? '';
    }
    const name = written.normalize('NFC');
    return valueText(name === 'goal' ? goal : Object.hasOwn(values, name) ? values[name] : undefined);
  });
}

/** The prompt with the users' guidance since the run began. */
export function withGuidance(prompt: string, guidance: RunRecord['guidance']): string {
  if (guidance.length === 0) {
    return prompt;
  }
  const lines = guidance.map(({ text, file, line }) => {
    const place = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`;
    return `- ${text}${place}`;
  });
  return `${prompt}\n\nGuidance given since the run began:\n${lines.join('\n')}`;
}
