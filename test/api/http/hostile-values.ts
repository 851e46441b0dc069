import fc from 'fast-check';
import { minimalValue, type Schema } from '../permissions/minimal-value';

/** Values of every kind, among them those that parsers, regular expressions, stores and file names stumble over. */
export const hostileValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e\u200b',
  '../../etc/passwd',
  '..\\..\\',
  '$where',
  '__proto__',
  'constructor',
  '---\n# x\n',
  '${jndi:x}',
  '(a+)+$',
  '{{x}}',
  '-rf',
  'http://127.0.0.1:1/',
  'file:///etc/passwd',
  '2026-02-30T25:61:61Z',
  '+275761-01-01T00:00:00.000Z',
  'é'.repeat(300),
  'x'.repeat(70_000),
  [],
  [[]],
  [null],
  Array.from({ length: 2_000 }, (_, at) => at),
  {},
  { $gt: '' },
  { toString: 1, valueOf: 2 },
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`),
];

const resolved = (schema: Schema, components: Record<string, unknown>): Schema =>
  schema.$ref === undefined ? schema : resolved(components[schema.$ref.split('/').at(-1) ?? ''] as Schema, components);

/** The names of the fields that a body may have, in all of its forms. */
export function fieldsOf(schema: Schema, components: Record<string, unknown>): string[] {
  const whole = resolved(schema, components);
  const forms = [...(whole.anyOf ?? []), ...(whole.oneOf ?? []), ...(whole.allOf ?? [])];
  return [...new Set([...Object.keys(whole.properties ?? {}), ...forms.flatMap((form) => fieldsOf(form, components))])];
}

/** The smallest valid body with one field, or all of it, replaced by a hostile value, or with a field more. */
export function almostValid(schema: Schema, components: Record<string, unknown>): fc.Arbitrary<unknown> {
  const valid = minimalValue(schema, components);
  const hostile = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...hostileValues) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );
  if (typeof valid !== 'object' || valid === null || Array.isArray(valid)) {
    return hostile;
  }
  const fields = fieldsOf(schema, components);
  const replaced = fc
    .tuple(fc.constantFrom(...fields, 'unknownField'), hostile)
    .map(([field, value]) => ({ ...valid, [field]: value }));
  return fc.oneof({ weight: 8, arbitrary: replaced }, { weight: 1, arbitrary: hostile });
}
