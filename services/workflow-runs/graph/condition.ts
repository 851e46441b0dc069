import type { Comparison, Condition } from './graph';

/** A value of a run's context, or `outcome`: `success` or `fail`. */
const comparison = /^\s*([\p{L}_][\p{L}\p{M}\p{N}_-]*)\s*(=|!=|contains)\s*("[^"]*"|[^\s"&]+)\s*$/u;

/**
 * Reads a condition such as `outcome=success && review_answer != "no"`.
 *
 * @returns `undefined` when it cannot be read
 */
export function parseCondition(text: string): Condition | undefined {
  const read: Comparison[] = [];
  for (const part of text.split('&&')) {
    const [, name, operator, value] = comparison.exec(part) ?? [];
    if (name === undefined || operator === undefined || value === undefined) {
      return undefined;
    }
    read.push({
      name: name.normalize('NFC'),
      operator: operator as Comparison['operator'],
      value: value.replace(/^"(.*)"$/, '$1'),
    });
  }
  return read;
}

/** A value as conditions and prompts see it: texts as they are, nothing for what is not there, JSON for the rest. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Whether all of a condition holds for the values of a run. */
export function holds(condition: Condition, values: Readonly<Record<string, unknown>>): boolean {
  return condition.every(({ name, operator, value }) => {
    const actual = valueText(Object.hasOwn(values, name) ? values[name] : undefined);
    if (operator === 'contains') {
      return actual.includes(value);
    }
    return (actual === value) === (operator === '=');
  });
}
