import type { JsonSchema } from './openapi-schema';

/** What examples are made of: texts by the name of their field, and others of the forms that patterns ask for. */
export interface ExampleTexts {
  byField: Readonly<Record<string, string>>;
  others: readonly string[];
  /** Responses that are texts. */
  byMediaType: Readonly<Record<string, string>>;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  default?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

const formats: Record<string, string> = {
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '01234567-89ab-4cde-8f01-23456789abcd',
};

const hexDigits = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';

/** Ids as most contracts ask for them: a prefix, which their pattern begins with, and hexadecimal digits. */
function idsLike(pattern: string): string[] {
  const prefix = /^\^([a-z]+(?:_[a-z]+)*_)/.exec(pattern)?.[1];
  return prefix === undefined ? [] : [12, 20, 24, 32].map((length) => `${prefix}${hexDigits.slice(0, length)}`);
}

function textOf(schema: Schema, field: string, texts: ExampleTexts): string {
  const { format, minLength = 0, maxLength = Infinity } = schema;
  const patterns = [schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern]));
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'u'));
  const fits = (text: string): boolean =>
    text.length >= minLength && text.length <= maxLength && expressions.every((one) => one.test(text));
  const { [field]: ofField } = texts.byField;
  const candidates = [
    ...(format !== undefined && format in formats ? [formats[format] ?? ''] : []),
    ...(ofField === undefined ? [] : [ofField]),
    ...patterns.flatMap(idsLike),
    ...texts.others,
  ];
  return candidates.find(fits) ?? 'x'.repeat(Math.max(1, minLength));
}

const deepest = 12;

/**
 * A value that a schema describes, with what it requires: the same one each time, so that the document stays as it is.
 *
 * @param components the named schemas that it refers to
 */
export function exampleValue(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  texts: ExampleTexts,
): unknown {
  function valueOf(it: Schema, field: string, depth: number): unknown {
    if (it.$ref !== undefined) {
      return depth > deepest ? null : valueOf(components[it.$ref.split('/').at(-1) ?? ''] ?? {}, field, depth + 1);
    }
    if (it.const !== undefined || it.enum) {
      return it.const ?? it.enum?.[0];
    }
    const branch = (it.anyOf ?? it.oneOf)?.find(({ type }) => type !== 'null');
    if (branch) {
      return valueOf(branch, field, depth);
    }
    if (it.allOf && it.type !== 'string') {
      return Object.assign({}, ...it.allOf.map((part) => valueOf(part, field, depth)));
    }
    return plainValue(it, field, depth);
  }

  function plainValue(it: Schema, field: string, depth: number): unknown {
    switch (Array.isArray(it.type) ? it.type[0] : it.type) {
      case 'object': {
        const others = typeof it.additionalProperties === 'object' ? it.additionalProperties : {};
        const required = (it.required ?? []).map((name): [string, unknown] => [
          name,
          valueOf(it.properties?.[name] ?? others, name, depth + 1),
        ]);
        return Object.fromEntries(required);
      }
      case 'array': {
        const length = Math.max(it.minItems ?? 0, depth > deepest / 2 || it.maxItems === 0 ? 0 : 1);
        return Array.from({ length }, () => valueOf(it.items ?? {}, field, depth + 1));
      }
      case 'string':
        return textOf(it, field, texts);
      case 'integer':
      case 'number': {
        const least = it.minimum ?? (it.exclusiveMinimum === undefined ? 0 : it.exclusiveMinimum + 1);
        return Math.max(least, Math.min(1, it.maximum ?? 1));
      }
      case 'boolean':
        return true;
      default:
        return {};
    }
  }

  return valueOf(schema, '', 0);
}
