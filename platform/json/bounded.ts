import { wellFormed } from '../text/well-formed';

/** How much one untrusted JSON document may contain. */
export interface JsonLimits {
  /** Lists and objects within each other. */
  depth: number;
  /** Values and fields in all. */
  values: number;
  /** UTF-16 units of the longest name of a field. */
  nameLength: number;
}

/** The document may be JSON, but exceeds a limit; the message states which. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

/**
 * Reads JSON of a source that may be hostile. Its shape is measured before it is parsed, in one pass and without recursion, so
 * that everything that walks over the value afterwards may recurse. Halves of surrogate pairs become U+FFFD and numbers that
 * are too large for one (`1e999`) `null`: no store and no digest has either.
 *
 * @throws JsonLimitError beyond a limit, and for a field with the name `__proto__`
 * @throws SyntaxError when it is no JSON
 */
export function parseBoundedJson(text: string, limits: JsonLimits): unknown {
  assertShape(text, limits);
  const value: unknown = JSON.parse(text);
  return unusual.test(text) ? storable(value) : value;
}

/** What may name a half of a surrogate pair, a number beyond all numbers, or a prototype. */
const unusual = /\\u[dD][89a-fA-F]|[eE]\+?\d{3}|\d{300}|__proto__|\\u00/;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

function assertShape(text: string, limits: JsonLimits): void {
  let depth = 0;
  let values = 1;
  let lastText = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfText(text, at);
        lastText = end - at - 1;
        at = end;
        break;
      }
      case 0x5b:
      case 0x7b:
        depth += 1;
        values += 1;
        if (depth > limits.depth) {
          throw new JsonLimitError(`It is nested more than ${limits.depth} levels deep.`);
        }
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case colon:
        if (lastText > limits.nameLength) {
          throw new JsonLimitError(`It has a field with a name of more than ${limits.nameLength} characters.`);
        }
        break;
      case comma:
        values += 1;
        break;
    }
    if (values > limits.values) {
      throw new JsonLimitError(`It has more than ${limits.values} values.`);
    }
  }
}

/** The position of the quote that ends the text which begins here. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      return at;
    }
    if (code === backslash) {
      at += 1;
    }
  }
  return text.length;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') {
    return wellFormed(value);
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : null;
  }
  if (Array.isArray(value)) {
    return value.map(storable);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (name === '__proto__') {
        throw new JsonLimitError('It has a field with the name __proto__.');
      }
      return [wellFormed(name), storable(item)];
    }),
  );
}
