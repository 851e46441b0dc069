import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, parseDocument, stringify, visit, type YAMLMap } from 'yaml';
import { excessOf } from '../../../platform/yaml/limits';
import { type FieldSources, fieldSources } from './field-sources';
import { parseSimpleFields, printSimpleField } from './simple-fields';

/** The two parts of a task file. */
export interface FrontMatter {
  fields: Record<string, unknown>;
  body: string;
  /** How each field was written, so that a field that does not change is written back exactly as it was. */
  sources: FieldSources;
  /** Whether the text is one that this process has printed and read back. */
  printed?: true;
}

/** The text is not a front matter and a body; the message states why, for the person who wrote it. */
export class FrontMatterError extends Error {
  override readonly name = 'FrontMatterError';
}

/**
 * Splits a task file. The body is exact: one empty line separates the closing fence from the body and one line end follows it,
 * neither of which belongs to it.
 *
 * @throws FrontMatterError
 */
export function parseFrontMatter(text: string): FrontMatter {
  const opening = /^\uFEFF?---[ \t]*(\r?\n)/.exec(text);
  if (!opening) {
    throw new FrontMatterError('the file does not start with a line of three dashes');
  }
  const eol = opening[1] ?? '\n';
  // The line end of the opening fence also ends the line before an empty front matter.
  const rest = text.slice(opening[0].length - eol.length);
  const closing = /\n---[ \t]*(?:\r?\n|$)/.exec(rest);
  if (!closing) {
    throw new FrontMatterError('the front matter is not closed by a line of three dashes');
  }
  const yaml = rest.slice(eol.length, closing.index + 1);
  return { ...parseFields(yaml), body: bodyOf(rest.slice(closing.index + closing[0].length), eol) };
}

function bodyOf(text: string, eol: string): string {
  const start = text.startsWith(eol) ? eol.length : 0;
  const end = text.length - eol.length >= start && text.endsWith(eol) ? text.length - eol.length : text.length;
  return text.slice(start, end);
}

/** Reads the lines between the fences. @throws FrontMatterError */
export function parseFields(yaml: string): Pick<FrontMatter, 'fields' | 'sources'> {
  const simple = parseSimpleFields(yaml);
  if (simple) {
    return simple;
  }
  const excess = excessOf(yaml, 'the front matter');
  if (excess) {
    throw new FrontMatterError(excess);
  }
  // Duplicate keys are looked for below: the parser's own check takes quadratic time.
  const document = parseDocument(yaml, { schema: 'core', uniqueKeys: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    throw new FrontMatterError(firstLine(problem.message));
  }
  if (document.contents === null) {
    return { fields: {}, sources: { byField: new Map(), tail: '' } };
  }
  if (!isMap(document.contents)) {
    throw new FrontMatterError('the front matter is not a list of "name: value" fields');
  }
  visit(document, { Alias: refuseAlias, Map: (_key, map) => refuseUnsafeKeys(map) });
  const fields = document.toJS({ maxAliasCount: 0 }) as Record<string, unknown>;
  return { fields, sources: fieldSources(yaml, document.contents, fields) };
}

const firstLine = (message: string): string => message.split('\n', 1)[0]?.replace(/:$/, '') ?? '';

/** A few aliases of aliases expand to gigabytes. */
function refuseAlias(): never {
  throw new FrontMatterError('aliases (*name) are not supported');
}

function refuseUnsafeKeys(map: YAMLMap): void {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key)) {
      throw new FrontMatterError('a field name is not plain text');
    }
    const name = String(key.value);
    if (name === '__proto__') {
      throw new FrontMatterError('__proto__ is not a possible field name');
    }
    if (seen.has(name)) {
      throw new FrontMatterError(`the field ${JSON.stringify(name)} is there twice`);
    }
    seen.add(name);
  }
}

/** Without a width, long lines are not folded; equal objects are written out, since aliases are refused on reading. */
const printing = { schema: 'core', lineWidth: 0, aliasDuplicateObjects: false } as const;

/** Every text on one line in double quotes, as JSON has it: less readable, and exact for every text. */
const quoting = {
  ...printing,
  defaultStringType: 'QUOTE_DOUBLE',
  doubleQuotedAsJSON: true,
  blockQuote: false,
} as const;

/** How fields are printed. */
export interface Notation {
  /** Texts in double quotes: the printed blocks of a few texts with lines of spaces do not read back as these texts. */
  quoted?: boolean;
}

/**
 * The text of a task file with `fields` in their order. Fields equal to those of `original` retain their notation and comments.
 */
export function printFrontMatter(
  fields: Record<string, unknown>,
  body: string,
  { original, ...notation }: Notation & { original?: Pick<FrontMatter, 'sources'> } = {},
): string {
  const parts = Object.entries(fields).map(([name, value]) => {
    const source = original?.sources.byField.get(name);
    if (!source) {
      return printField(name, value, notation);
    }
    return source.lead + (isDeepStrictEqual(source.value, value) ? source.text : printField(name, value, notation));
  });
  return withFences(parts.join('') + (original?.sources.tail ?? ''), body);
}

/** The lines of one field. */
export const printField = (name: string, value: unknown, { quoted }: Notation = {}): string =>
  quoted
    ? stringify({ [name]: value }, { ...quoting, defaultKeyType: 'PLAIN' })
    : (printSimpleField(name, value) ?? stringify({ [name]: value }, printing));

/** A whole text of its two parts. */
export const withFences = (yaml: string, body: string): string =>
  `---\n${yaml}---\n${body === '' ? '' : `\n${body}\n`}`;
