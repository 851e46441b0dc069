import fc from 'fast-check';
import { type FrontMatter, type Notation, parseFrontMatter, printFrontMatter } from './front-matter';
import { patchFrontMatter } from './patched-front-matter';

const written = (fields: Record<string, unknown>, body = '', notation: Notation = {}): FrontMatter => ({
  ...parseFrontMatter(printFrontMatter(fields, body, notation)),
  printed: true,
});
const textOf = ({ sources }: FrontMatter) =>
  [...sources.byField.values()].map(({ lead, text }) => lead + text).join('') + sources.tail;

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '---',
    '...',
    '# no comment',
    '- a',
    'a: b',
    '&a',
    '*a',
    '%YAML 1.2',
    '',
    ' ',
    '\t',
    'null',
    '1e3',
    '~',
  ),
);
const text = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const object = { maxKeys: 3, noNullPrototype: true };
const item = fc.oneof(scalar, fc.dictionary(fc.constantFrom('id', 'text', 'at', 'a b'), scalar, object));
const value = fc.oneof(
  scalar,
  fc.array(item, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('x', 'y'), item, object),
);
const names = ['id', 'title', 'comments', 'note'];
const fieldsOf = fc
  .array(value, { minLength: names.length, maxLength: names.length })
  .map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]])));

describe('the front matter of a file that was written before', () => {
  it('reads, with any other values of its fields, as what it is taken to read as', () => {
    const changes = fc.array(fc.tuple(fc.constantFrom(...names), value, fc.boolean()), { maxLength: 6 });
    fc.assert(
      fc.property(fieldsOf, changes, text, (first, changed, body) => {
        let source = written(first, body, { quoted: true });
        let fields: Record<string, unknown> = { ...source.fields };
        for (const [name, next, grows] of changed) {
          const before = fields[name];
          fields = { ...fields, [name]: grows && Array.isArray(before) ? [...before, next] : next };
          const patched = patchFrontMatter(fields, body, source);
          if (!patched) {
            source = written(fields, body, { quoted: true });
            continue;
          }
          const read = parseFrontMatter(patched.text);
          expect([read.fields, read.body]).toEqual([fields, body]);
          expect([patched.source.fields, patched.source.body]).toEqual([fields, body]);
          expect(patched.text).toContain(textOf(patched.source));
          source = patched.source;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('prints what a list gains, and no other line again', () => {
    const fields = { id: 'TASK-1', comments: [{ id: 'a', text: 'one\ntwo' }], note: 'x' };
    const source = written(fields);
    const comments = [...fields.comments, { id: 'b', text: 'three' }];
    const patched = patchFrontMatter({ ...fields, comments }, '', source);
    expect(patched?.text).toBe(printFrontMatter({ ...fields, comments }, ''));
    expect(patched?.source.sources.byField.get('note')).toBe(source.sources.byField.get('note'));
  });

  it.each([' \n', ' \n\t\n'])('is printed as a whole if a field becomes the text %j', (line) => {
    const source = written({ id: 'TASK-1', list: ['x'], note: 'x' });
    const patched = patchFrontMatter({ id: 'TASK-1', list: [{ line }], note: line }, '', source);
    expect(patched).toBeUndefined();
  });

  it.each([
    ['a field is added', { id: 'TASK-1', note: 'x', more: 1 }],
    ['a field is removed', { id: 'TASK-1' }],
    ['fields have another order', { note: 'x', id: 'TASK-1' }],
  ])('is read as a whole when %s', (_title, fields) => {
    expect(patchFrontMatter(fields, '', written({ id: 'TASK-1', note: 'x' }))).toBeUndefined();
  });

  it('is read as a whole when comments or empty lines are between its fields', () => {
    const source = parseFrontMatter('---\nid: TASK-1\n# about the note\nnote: x\n---\n');
    expect(patchFrontMatter({ id: 'TASK-2', note: 'x' }, '', source)).toBeUndefined();
  });
});
