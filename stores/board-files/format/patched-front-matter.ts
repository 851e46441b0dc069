import { isDeepStrictEqual } from 'node:util';
import { excessOf } from '../../../platform/yaml/limits';
import type { FieldSource } from './field-sources';
import { type FrontMatter, FrontMatterError, parseFields, printField, withFences } from './front-matter';

/** Lines that end a document, or begin another, wherever they are. */
const documentMarks = /^(?:---|\.\.\.|%)/m;

/**
 * The text of a task file that this process has written, with other values of the same fields, and what the text reads as. Only
 * what changes is printed and read: a list that grows costs what is added to it, and not what was there.
 *
 * @param original as the text that was written reads: each field has lines of its own
 * @returns `undefined` where the text has to be printed and read as a whole
 */
export function patchFrontMatter(
  fields: Record<string, unknown>,
  body: string,
  original: FrontMatter,
): { text: string; source: FrontMatter } | undefined {
  const { byField, tail } = original.sources;
  const names = Object.keys(fields);
  const isSameShape = names.length === byField.size && [...byField.keys()].every((name, at) => name === names[at]);
  // What is below a field may belong to its value, as empty lines do: with comments in between, only reading shows it.
  if (!isSameShape || tail !== '' || [...byField.values()].some(({ lead }) => lead !== '')) {
    return undefined;
  }
  const patched = new Map<string, FieldSource>();
  for (const [name, source] of byField) {
    const field = isDeepStrictEqual(source.value, fields[name]) ? source : changedField(name, source, fields[name]);
    if (!field) {
      return undefined;
    }
    patched.set(name, field);
  }
  const yaml = [...patched.values()].map(({ text }) => text).join('');
  if (documentMarks.test(yaml) || excessOf(yaml, '') !== undefined) {
    return undefined;
  }
  const read = Object.fromEntries([...patched].map(([name, { value }]) => [name, value]));
  const source = { fields: read, body, sources: { byField: patched, tail: '' }, printed: true as const };
  return { text: withFences(yaml, body), source };
}

/** The lines of a field with another value; `undefined` unless they read as that value. */
function changedField(name: string, before: FieldSource, value: unknown): FieldSource | undefined {
  const head = `${name}:\n`;
  const added = before.text.startsWith(`${head}  - `) ? addedItems(before.value, value) : undefined;
  if (!added) {
    return printedField(name, value);
  }
  const items = printedField(name, added);
  return (
    items && {
      ...items,
      text: before.text + items.text.slice(head.length),
      value,
    }
  );
}

/** The items that a list has beyond those that were there, if it begins with all of them. */
function addedItems(before: unknown, value: unknown): unknown[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(value) || value.length <= before.length) {
    return undefined;
  }
  return before.every((item, at) => isDeepStrictEqual(item, value[at])) ? value.slice(before.length) : undefined;
}

/** The lines of one field by themselves; `undefined` unless they read as its value. */
function printedField(name: string, value: unknown): FieldSource | undefined {
  const text = printField(name, value);
  if (excessOf(text, '') !== undefined) {
    return undefined;
  }
  try {
    const { fields } = parseFields(text);
    return isDeepStrictEqual(fields, { [name]: value }) ? { lead: '', text, value } : undefined;
  } catch (error) {
    if (error instanceof FrontMatterError) {
      return undefined;
    }
    throw error;
  }
}
