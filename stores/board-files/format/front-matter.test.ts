import fc from 'fast-check';
import { wellFormed } from '../../../platform/text/well-formed';
import { FrontMatterError, parseFrontMatter, printFrontMatter } from './front-matter';

const parsedAgain = (text: string) => {
  const { fields, body } = parseFrontMatter(text);
  return { fields, body };
};

describe('reading', () => {
  test('splits fields and body', () => {
    const { fields, body } = parseFrontMatter('---\nid: TASK-1\ntitle: "A: b"\n---\n\nHello\n\nworld\n');
    expect(fields).toEqual({ id: 'TASK-1', title: 'A: b' });
    expect(body).toBe('Hello\n\nworld');
  });

  test('takes a byte order mark, Windows line ends and no line end at the end of the file', () => {
    expect(parsedAgain('\uFEFF---\r\nid: TASK-1\r\n---\r\n\r\na\r\nb\r\n')).toEqual({
      fields: { id: 'TASK-1' },
      body: 'a\r\nb',
    });
    expect(parsedAgain('---\nid: TASK-1\n---')).toEqual({ fields: { id: 'TASK-1' }, body: '' });
    expect(parsedAgain('---\n---\nabc')).toEqual({ fields: {}, body: 'abc' });
  });

  test('leaves times and words like yes as text', () => {
    expect(parseFrontMatter('---\nat: 2026-01-01T00:00:00Z\nok: yes\n---\n').fields).toEqual({
      at: '2026-01-01T00:00:00Z',
      ok: 'yes',
    });
  });

  test.each([
    ['no front matter', '# Title\n', 'does not start'],
    ['an open front matter', '---\nid: TASK-1\n', 'not closed'],
    ['broken YAML', '---\nid: [TASK-1\n---\n', 'Flow sequence'],
    ['a list', '---\n- a\n---\n', 'not a list of'],
    ['a field twice', '---\na: 1\nb: {c: 1, c: 2}\n---\n', '"c" is there twice'],
    ['a prototype', '---\na:\n  __proto__: {polluted: true}\n---\n', '__proto__'],
    ['aliases', '---\na: &x [1]\nb: [*x, *x]\n---\n', 'aliases'],
    ['unknown tags', '---\na: !!js/function x\n---\n', 'tag'],
    ['a key that is a list', '---\n? [a]\n: 1\n---\n', 'field name'],
    ['two documents', '---\na: 1\n...\nb: 2\n---\n', 'Source contains multiple documents'],
    ['nested brackets', `---\na: ${'['.repeat(20_000)}\n---\n`, 'nested more than 100'],
    ['nested lists', `---\na:\n  ${'- '.repeat(20_000)}x\n---\n`, 'nested more than 100'],
    ['nested lines', `---\n${Array.from({ length: 900 }, (_, n) => `${' '.repeat(n)}a:\n`).join('')}---\n`, 'indented'],
    ['too many entries', `---\na: [${'1,'.repeat(50_000)}]\n---\n`, 'more than 40000'],
  ])('refuses %s', (_name, text, problem) => {
    expect(() => parseFrontMatter(text)).toThrow(FrontMatterError);
    expect(() => parseFrontMatter(text)).toThrow(problem);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });
});

describe('writing', () => {
  const key = fc.string({ minLength: 1, maxLength: 12 }).filter((name) => name !== '__proto__');
  const text = fc.string({ unit: 'binary', maxLength: 60 }).map(wellFormed);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));

  test('what is written reads back the same', () => {
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true }), text, (fields, body) => {
        expect(parsedAgain(printFrontMatter(fields, body))).toEqual({ fields, body });
      }),
      { numRuns: 200 },
    );
  });

  test('what is written in quotes reads back the same, whatever its lines', () => {
    const line = fc.oneof(fc.constantFrom('', ' ', '\t', '---', '%YAML 1.2', '# x', '- a'), text);
    const lines = fc.array(line, { maxLength: 5 }).map((each) => each.join('\n'));
    const nested = fc.oneof(lines, fc.array(fc.oneof(lines, fc.dictionary(key, lines, { noNullPrototype: true }))));
    fc.assert(
      fc.property(nested, (field) => {
        expect(parsedAgain(printFrontMatter({ field }, '', { quoted: true })).fields).toEqual({ field });
      }),
      { numRuns: 300 },
    );
  });

  test.each(['', '\n', '\n\n', 'a', 'a\n', '\na', '\r\n', 'a\r', '---\nx\n---\n', '\n---\n', '  a  '])(
    'the body %j is exact',
    (body) => {
      expect(parseFrontMatter(printFrontMatter({ id: 'TASK-1' }, body)).body).toBe(body);
    },
  );

  test('fields that do not change keep their notation and comments, whatever their order', () => {
    const original = [
      '---',
      '# who reads this?',
      'zebra:   0x1F   # stripes',
      'big: 12345678901234567890',
      'title: "Old"',
      '# the points of last sprint',
      'points: 3.0',
      'notes: |',
      '  # not a comment',
      '',
      '  text',
      '',
      '# the end',
      '---',
      '',
    ].join('\n');
    const source = parseFrontMatter(original);
    const { zebra, big, points, notes } = source.fields;
    expect(printFrontMatter({ title: 'New', zebra, big, notes, points, added: 1 }, 'body', { original: source })).toBe(
      [
        '---',
        'title: New',
        '# who reads this?',
        'zebra:   0x1F   # stripes',
        'big: 12345678901234567890',
        'notes: |',
        '  # not a comment',
        '',
        '  text',
        '',
        '# the points of last sprint',
        'points: 3.0',
        'added: 1',
        '# the end',
        '---',
        '',
        'body',
        '',
      ].join('\n'),
    );
  });
});
