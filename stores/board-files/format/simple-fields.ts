import type { FieldSource, FieldSources } from './field-sources';

/** One line of a field whose meaning needs no YAML parser: plain text, a whole number or a time. */
const simpleLine = /^([a-z][A-Za-z0-9]*): (.+)$/;
/** Text may not end with a space, which is checked apart: looking ahead from each space takes time by the square of their number. */
const words = /^[A-Za-z](?:[A-Za-z0-9_./@(),+ -]|:(?=[A-Za-z0-9_./@(),+-]))*$/;
const wholeNumber = /^(?:0|[1-9]\d{0,14})$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Scalars that YAML's core schema does not parse as text. */
const notText = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/;

/**
 * Reads a front matter of nothing but simple lines, as most are, many times faster than a YAML parser; `undefined`
 * for any other. Tested to agree with the parser.
 */
export function parseSimpleFields(
  yaml: string,
): { fields: Record<string, unknown>; sources: FieldSources } | undefined {
  if (!yaml.endsWith('\n')) {
    return undefined;
  }
  const fields: Record<string, unknown> = {};
  const byField = new Map<string, FieldSource>();
  for (const line of yaml.slice(0, -1).split('\n')) {
    const [, name = '', text = ''] = simpleLine.exec(line) ?? [];
    const value = valueOf(text);
    if (value === undefined || notText.test(name) || byField.has(name)) {
      return undefined;
    }
    fields[name] = value;
    byField.set(name, { lead: '', text: `${line}\n`, value });
  }
  return { fields, sources: { byField, tail: '' } };
}

/** The line of a field that {@link parseSimpleFields} reads, as a YAML printer has it; `undefined` for any other. */
export function printSimpleField(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') {
    return undefined;
  }
  const line = `${name}: ${value}`;
  const isSimple = simpleLine.test(line) && !notText.test(name) && Object.is(valueOf(String(value)), value);
  return isSimple ? `${line}\n` : undefined;
}

function valueOf(text: string): string | number | undefined {
  if (wholeNumber.test(text)) {
    return Number(text);
  }
  const isText = time.test(text) || (!text.endsWith(' ') && words.test(text) && !notText.test(text));
  return isText ? text : undefined;
}
