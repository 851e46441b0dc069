import { compileUntrustedSchema, schemaProblem } from './untrusted-schema';

const bounds = { maxBytes: 10_000 };

/** Definitions that each refer twice to the next one: checking a value takes two to the power of their number steps. */
const bomb = (levels: number) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, level === levels - 1 ? { type: 'object' } : { allOf: [next, next] }];
    }),
  ),
});

describe('untrusted JSON schemas', () => {
  it('checks values', () => {
    const check = compileUntrustedSchema(
      { type: 'object', properties: { a: { type: 'string', format: 'date' } }, required: ['a'] },
      bounds,
    );
    expect(check({ a: '2026-11-24' })).toEqual([]);
    expect(check({ a: 'tomorrow' })).toEqual([{ path: '/a', message: 'must match format "date"' }]);
    expect(check({})).toEqual([{ path: '', message: "must have required property 'a'" }]);
    expect(check(Object.create({ a: '2026-11-24' }))).toHaveLength(1);
  });

  it('keeps schemas of one id apart', () => {
    const withId = (type: string) => ({ $id: 'https://example.com/same', $defs: { a: { type } }, $ref: '#/$defs/a' });
    const texts = compileUntrustedSchema(withId('string'), bounds);
    const numbers = compileUntrustedSchema(withId('number'), bounds);
    expect([texts('a'), numbers(1)]).toEqual([[], []]);
    expect([texts(1), numbers('a')].map((issues) => issues.length)).toEqual([1, 1]);
    expect(schemaProblem({ $ref: 'https://example.com/same' }, bounds)).toContain('no JSON schema');
  });

  it.each(['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'])(
    'knows the dialect %s',
    (dialect) => {
      expect(compileUntrustedSchema({ $schema: dialect, type: 'object' }, bounds)([])).toHaveLength(1);
    },
  );

  it.each([
    ['another dialect', { $schema: 'https://example.com/dialect' }, 'dialect that is not supported'],
    ['no schema', { type: 'nonsense' }, 'no JSON schema'],
    ['a broken pattern', { pattern: '(' }, 'no JSON schema'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }, 'no JSON schema'],
    ['too many bytes', { description: 'x'.repeat(10_000) }, 'more than 10000 bytes'],
    [
      'too many values',
      { enum: Array.from({ length: 4_900 }, () => 1), const: Array(200).fill(1) },
      'more than 5000 values',
    ],
    ['asynchronous checks', { $async: true }, '$async'],
  ])('refuses %s', (_case, schema, problem) => {
    expect(schemaProblem(schema, { maxBytes: _case === 'too many values' ? 20_000 : 10_000 })).toContain(problem);
  });

  it.each([
    ['a pattern that backtracks', { pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`],
    ['definitions that multiply', bomb(30), {}],
  ])('interrupts %s', (_case, schema, value) => {
    const problem = (): unknown => compileUntrustedSchema(schema, bounds)(value);
    expect(problem).toThrow(/^it takes too long to/);
  });
});
