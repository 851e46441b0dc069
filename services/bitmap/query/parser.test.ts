import fc from 'fast-check';
import { finish } from '../steps';
import type { Call, Value } from './ast';
import { QueryError } from './errors';
import { parse as parseInSteps } from './parser';

const parse = (text: string) => finish(parseInSteps(text));

const fails = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(QueryError);
    return (error as Error).message;
  }
  throw new Error(`${text} is parsed`);
};

describe('the grammar', () => {
  it.each([
    ['Row(f=1', 'expected "," or ")", found the end (line 1, column 8)'],
    ['Row(f=)', 'expected a value, found ")" (line 1, column 7)'],
    ['Row(f=1);', 'expected the name of a call, found ";" (line 1, column 9)'],
    ['Row(f=1, f=2)', 'f is given twice (line 1, column 10)'],
    ['Row(f=1)\n Row(8 > x > 1)', 'expected "<" or "<=", found ">" (line 2, column 8)'],
    ['Row(8 < x)', 'expected "<" or "<=", found ")"'],
    ['Row(1 < x < y)', 'expected an integer, found "y"'],
    ['Set(007, f=1)', 'begins with 0'],
    ['Set(1, f=1,)', 'expected an argument'],
    ['Count(n=1, Row(f=1))', 'calls come before named arguments'],
    ['Row(5)', 'takes no value without a name'],
    ['Row(f=99999999999999999999)', 'does not fit 64 bits'],
    ['Row(f="x)', 'no closing quote'],
    ['Row(f="\\q")', 'unknown escape'],
    ['Row(_other=1)', 'not the name'],
    ['Row(f=[1,])', 'expected a value'],
    ['Row(f=[Row(f=1)])', 'holds no calls'],
    ['Row(f > Row(f=1))', 'cannot be compared'],
    ['Row(f=1.2.3)', 'neither a number nor a word'],
    ['Row(f=ü)', 'expected a value, found "ü"'],
    ['(', 'expected the name of a call'],
    ['Not('.repeat(300), 'nested deeper'],
  ])('refuses %s', (text, message) => {
    expect(fails(text)).toContain(message);
    expect(fails(text)).toMatch(/^parsing: .* \(line \d+, column \d+\)$/);
  });

  it('refuses a call that is too long, and takes as many as a text has', () => {
    const rows = (count: number) => Array.from({ length: count }, () => 'Row(f=1)').join();
    expect(parse(`Union(${rows(20_000)}) `.repeat(3))).toHaveLength(3);
    expect(fails(`Union(${rows(30_000)})`)).toContain('a call has more than 50000 arguments');
    expect(fails(`TopN(f, ids=[${Array.from({ length: 60_000 }, () => 1).join()}])`)).toContain('more than 50000');
  });

  it('reads every kind of value', () => {
    const [call] = parse(`X( f = [1, -2, 1.5, "a\\"b", 'c', word-1:x, true, null], t=2017-01-02T03:04, g=Row(h=1), )`);
    expect([...(call?.args ?? [])].map(([name, { value }]) => [name, value])).toEqual([
      ['f', [1, -2, { fraction: 1.5 }, 'a"b', 'c', { word: 'word-1:x' }, true, null]],
      ['t', { word: '2017-01-02T03:04' }],
      ['g', expect.objectContaining({ name: 'Row' })],
    ]);
  });

  it('reads chains of comparisons as the ends they include', () => {
    const ends = (text: string): Value | undefined => parse(text)[0]?.args.get('x')?.value;
    expect(ends('Row(1 < x < 5)')).toEqual([2, 4]);
    expect(ends('Row(-1<=x<=5)')).toEqual([-1, 5]);
    expect(ends('Row(9223372036854775807 < x < 1)')).toEqual([2n ** 63n, 0]);
  });

  it('keeps 64-bit numbers exact', () => {
    expect(parse('Row(f=9223372036854775807)')[0]?.args.get('f')?.value).toBe(2n ** 63n - 1n);
    expect(parse('Row(f=-9223372036854775808)')[0]?.args.get('f')?.value).toBe(-(2n ** 63n));
    expect(parse('Row(f=9007199254740992)')[0]?.args.get('f')?.value).toBe(2n ** 53n);
  });
});

describe('fractions', () => {
  it('are refused when no number is that large', () => {
    expect(() => parse(`SetColumnAttrs(1, x=${'9'.repeat(400)}.5)`)).toThrow(
      'a number is too large (line 1, column 21)',
    );
  });
});

describe('texts in quotes', () => {
  const first = (text: string): unknown => parse(`Row(a=${text})`)[0]?.args.get('a')?.value;

  it('hold escapes, and the other quote as it is', () => {
    expect(first(`"it's \\"\\u00e9\\" \\n\\\\"`)).toBe('it\'s "é" \n\\');
    expect(first(`'say "\\'"'`)).toBe(`say "'"`);
    expect(first('""')).toBe('');
  });

  it.each(['"open', '"open\\"', `'"`, '"\\x"', '"\\u12"'])('are refused: %s', (text) => {
    expect(() => first(text)).toThrow(QueryError);
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...[
      'Row',
      'Set',
      'Count',
      '(',
      ')',
      ',',
      '=',
      '<',
      '<=',
      '><',
      '[',
      ']',
      '"',
      "'",
      '\\',
      ' ',
      '\n',
      '1',
      '-5',
      '0',
      'f',
      'from',
    ],
    ...['null', 'true', '2017-01-01T00:00', '.', ';', 'é', '\u0000', '9223372036854775808', '__proto__', 'constructor'],
  );
  const mixed = fc
    .array(fc.oneof({ weight: 9, arbitrary: pieces }, fc.string()), { maxLength: 40 })
    .map((list) => list.join(''));

  it('is parsed or refused with a place in it', () => {
    fc.assert(
      fc.property(mixed, (text) => {
        try {
          parse(text);
        } catch (error) {
          expect(error).toBeInstanceOf(QueryError);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  const value: fc.Arbitrary<string> = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'true', 'word', '1.5'),
  );
  const { call } = fc.letrec<{ call: string }>((tie) => ({
    call: fc
      .tuple(
        fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie('call'), { maxLength: 3 })),
        fc.uniqueArray(
          fc.tuple(fc.constantFrom('a', 'b', 'c-d', 'e_f'), fc.constantFrom('=', '==', '<', '>='), value),
          { maxLength: 3, selector: ([name]) => name },
        ),
      )
      .map(([children, args]) => `Call(${[...children, ...args.map((parts) => parts.join(' '))].join(', ')})`),
  }));
  const written = (one: Call): string =>
    `Call(${[...one.children.map(written), ...[...one.args].map(([name, { operator, value: given }]) => `${name} ${operator} ${valueText(given)}`)].join(', ')})`;
  const valueText = (given: Value): string => {
    if (typeof given === 'string') {
      return JSON.stringify(given);
    }
    if (typeof given === 'object' && given !== null && 'word' in given) {
      return given.word;
    }
    if (typeof given === 'object' && given !== null && 'fraction' in given) {
      return String(given.fraction);
    }
    return typeof given === 'object' && given !== null ? '?' : String(given);
  };

  it('that is a query is understood as it was meant', () => {
    fc.assert(
      fc.property(call, (text) => {
        const parsed = parse(text);
        expect(parse(parsed.map(written).join(' ')).map(written)).toEqual(parsed.map(written));
        expect(parsed.map(written).join('').replace(/\s/g, '')).toBe(
          JSON.parse(JSON.stringify(text)).replace(/\s/g, ''),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
