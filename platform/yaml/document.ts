import { isAlias, isMap, isScalar, parseDocument, stringify, visit } from 'yaml';
import { excessOf } from './limits';

export type DocumentFormat = 'yaml' | 'json';

/** The text is no document that can be read; the message states why, for the person who wrote it. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/**
 * Reads a document that a person stores in a file: one object of plain values. Aliases, which a few lines of expand to
 * gigabytes, tags of types, and names that every object inherits are refused; so is what is too large to parse quickly.
 *
 * @param format `yaml` also reads JSON
 * @throws DocumentError
 */
export function readDocument(text: string, format: DocumentFormat = 'yaml'): Record<string, unknown> {
  const value = format === 'json' ? readJson(text) : readYaml(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DocumentError('the document is not a list of "name: value" fields');
  }
  return value as Record<string, unknown>;
}

function readJson(text: string): unknown {
  const excess = excessOf(text, 'the document');
  if (excess) {
    throw new DocumentError(excess);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text, (name, value: unknown) => {
      if (name === '__proto__') {
        throw new DocumentError('a field may not be named __proto__');
      }
      return value;
    });
  } catch (error) {
    if (error instanceof DocumentError) {
      throw error;
    }
    throw new DocumentError('the document is not JSON');
  }
  return parsed;
}

function readYaml(text: string): unknown {
  const excess = excessOf(text, 'the document');
  if (excess) {
    throw new DocumentError(excess);
  }
  // Duplicate keys are looked for below: the parser's own check takes quadratic time.
  const document = parseDocument(text, { schema: 'core', uniqueKeys: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    throw new DocumentError(problem.message.split('\n', 1)[0]?.replace(/:$/, '') ?? 'the document is not YAML');
  }
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      throw new DocumentError('aliases (*name) are not supported');
    }
    if (!isMap(node)) {
      return;
    }
    const seen = new Set<unknown>();
    for (const { key } of node.items) {
      if (!isScalar(key)) {
        throw new DocumentError('a field name is not plain text');
      }
      const name = String(key.value);
      if (name === '__proto__') {
        throw new DocumentError('a field may not be named __proto__');
      }
      if (seen.has(name)) {
        throw new DocumentError(`the field ${JSON.stringify(name)} is there twice`);
      }
      seen.add(name);
    }
  });
  return document.toJS({ maxAliasCount: 0 });
}

/** The text of a document, as `readDocument` reads it. */
export const writeDocument = (value: object, format: DocumentFormat): string =>
  format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, { aliasDuplicateObjects: false });
