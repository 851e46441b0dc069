/** JSON Schema as the OpenAPI document has it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

/** Texts of the forms that contracts ask for; the first that fits a pattern and a length is taken. */
const texts = [
  'absent',
  'a',
  'absent text that is long enough for a sentence',
  '2026-01-01T00:00:00.000Z',
  '2026-01-01',
  'https://receiver.invalid/',
  '/srv/absent',
  'task_20260101_absent',
  'attempt_absent0001',
  '01M8C1MFKDQEWTR3Q7J7YE24BZ',
  'a'.repeat(40),
  'a'.repeat(64),
  `sha256:${'a'.repeat(64)}`,
  '#aabbcc',
  'document_0123456789ab_mab12cd3',
  'watchdog_01234567-01234567-01234567-01234567',
  '1',
];

const formats: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  uri: 'https://receiver.invalid/',
  url: 'https://receiver.invalid/',
};

const hexDigits = '0123456789ab0123456789ab01234567';

/** Ids as most contracts ask for them: a prefix, which their pattern begins with, and hexadecimal digits. */
function idsLike(pattern: string | undefined): string[] {
  const prefix = /^\^([a-z]+_)/.exec(pattern ?? '')?.[1];
  return prefix === undefined ? [] : [12, 24, 32].map((length) => `${prefix}${hexDigits.slice(0, length)}`);
}

function minimalText({ format, pattern, minLength = 0, maxLength = Infinity }: Schema): string {
  const ofFormat = format === undefined ? undefined : formats[format];
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text));
  return ofFormat ?? [...texts, ...idsLike(pattern)].find(fits) ?? 'absent';
}

/**
 * A small value that a schema describes: what is required and no more. Where a schema requires something that is beyond
 * this, the value may be refused as invalid, which is a response too.
 */
export function minimalValue(schema: Schema, components: Record<string, unknown>): unknown {
  const minimal = (inner: Schema): unknown => minimalValue(inner, components);
  if (schema.$ref !== undefined) {
    return minimal(components[schema.$ref.split('/').at(-1) ?? ''] as Schema);
  }
  if (schema.const !== undefined) {
    return schema.const;
  }
  if (schema.enum) {
    return schema.enum[0];
  }
  const branch = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== 'null');
  if (branch) {
    return minimal(branch);
  }
  if (schema.allOf) {
    return Object.assign({}, ...schema.allOf.map(minimal));
  }
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object': {
      const required = (schema.required ?? []).map((name) => [name, minimal(schema.properties?.[name] ?? {})]);
      return Object.fromEntries(required);
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => minimal(schema.items ?? {}));
    case 'string':
      return minimalText(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case 'boolean':
      return false;
    default:
      return null;
  }
}
