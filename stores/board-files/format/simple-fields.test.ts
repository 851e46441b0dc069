import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { parseSimpleFields, printSimpleField } from './simple-fields';

const plainPiece = fc.constantFrom('a', 'Z', '0', '12', ' ', ':', '-', '.', ',', '/', '@', '(', ')', '+', '_', 'null');
const trickyPiece = fc.constantFrom(
  ...['  ', ': ', '#', ' #', '- ', 'true', 'False', 'yes', 'e5', '0x1F', '"', "'", '[', '{', '}', '&a', '*a', '!'],
  ...['|', '>', '%', '?', '~', '\t', '2026-01-01', 'T10:00:00Z', '2026-01-01T10:00:00.000Z', '.inf', 'é', '\r'],
);
const piece = fc.oneof({ weight: 4, arbitrary: plainPiece }, { weight: 1, arbitrary: trickyPiece });
const line = fc
  .tuple(
    fc.constantFrom('id', 'title', 'a1', 'b', 'c', 'null', '__proto__'),
    fc.array(piece, { minLength: 1, maxLength: 5 }),
  )
  .map(([name, pieces]) => `${name}: ${pieces.join('')}\n`);

describe('simple front matter fields', () => {
  test('what it reads, it reads as the YAML parser does', () => {
    let simple = 0;
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 2 }), (lines) => {
        const yaml = lines.join('');
        const found = parseSimpleFields(yaml);
        if (!found) {
          return;
        }
        simple += 1;
        expect(found.fields).toEqual(parse(yaml, { schema: 'core' }));
      }),
      { numRuns: 5_000 },
    );
    expect(simple).toBeGreaterThan(200);
  });

  test('what it prints, it prints as the YAML printer does', () => {
    const name = fc.constantFrom('id', 'title', 'a1', 'null', 'True', '__proto__', 'a b');
    const text = fc.array(piece, { minLength: 0, maxLength: 12 }).map((pieces) => pieces.join(''));
    let simple = 0;
    fc.assert(
      fc.property(name, fc.oneof(text, fc.integer(), fc.double(), fc.boolean()), (field, value) => {
        const line = printSimpleField(field, value);
        if (line === undefined) {
          return;
        }
        simple += 1;
        expect(line).toBe(stringify({ [field]: value }, { schema: 'core', lineWidth: 0 }));
        expect(parseSimpleFields(line)?.fields).toEqual({ [field]: value });
      }),
      { numRuns: 5_000 },
    );
    expect(simple).toBeGreaterThan(200);
  });

  test('it reads what this service writes for most tasks', () => {
    const yaml =
      'id: task_20260101_ab12cd\ntitle: Fix a/b, then c\ncreated: 2026-01-01T00:00:00.000Z\nrevision: 12\ncreatedBy: service:admin\n';
    expect(parseSimpleFields(yaml)?.fields).toEqual({
      id: 'task_20260101_ab12cd',
      title: 'Fix a/b, then c',
      created: '2026-01-01T00:00:00.000Z',
      revision: 12,
      createdBy: 'service:admin',
    });
  });

  test('a long line of spaces takes time by its length alone', () => {
    const spaces = ' '.repeat(1_000_000);
    expect(parseSimpleFields(`title: a${spaces}b\n`)?.fields).toEqual({ title: `a${spaces}b` });
    expect(parseSimpleFields(`title: a${spaces}bé\n`)).toBeUndefined();
    expect(parseSimpleFields(`title: a${spaces}\n`)).toBeUndefined();
  });

  test.each(['title: "a"\n', 'git:\n  repo: a\n', 'id: a\nid: b\n', '# note\nid: a\n', 'id: a', 'done: true\n', ''])(
    'it leaves %j to the parser',
    (yaml) => {
      expect(parseSimpleFields(yaml)).toBeUndefined();
    },
  );
});
