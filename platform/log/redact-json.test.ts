import fc from 'fast-check';
import { createRedactor } from './redact';
import { redactJson } from './redact-json';

const bounds = { bytes: 2_000, depth: 5, items: 10 };
const redact = createRedactor();
const clean = (document: Record<string, unknown>) => redactJson(document, redact, bounds);
const secret = `ghp_${'a1'.repeat(18)}`;

describe('a document that is kept', () => {
  it('stays as it is when nothing in it is secret', () => {
    const document = { a: 1, list: ['x', null, true], nested: { b: 'main' } };
    expect(clean(document)).toEqual({ value: document, changed: false });
  });

  it.each([
    ['a text', { note: `key ${secret}` }],
    ['a text in a list', { list: [{ deep: [secret] }] }],
    ['the name of a field', { [secret]: 1 }],
    ['a field with the name of a secret', { password: 'short' }],
  ])('loses %s', (_name, document) => {
    const { value, changed } = clean(document);
    expect(changed).toBe(true);
    expect(JSON.stringify(value)).not.toMatch(/ghp_|short/);
  });

  it('has no NUL in the name of a field, which no store takes', () => {
    expect(clean({ list: [{ 'a\0b': 'x' }], ['\0']: 1 })).toEqual({
      value: { list: [{ 'a\ufffdb': 'x' }], '\ufffd': 1 },
      changed: true,
    });
  });

  it.each(['', 'x'])('is cut between characters (%j)', (before) => {
    const { value } = clean({ text: before + '\u{1f600}'.repeat(2_000) });
    expect(value).toMatchObject({ truncated: true, preview: expect.not.stringMatching(/\p{Surrogate}/u) as string });
  });

  it('is cut where it is too deep, too long or too large', () => {
    const deep = { a: { b: { c: { d: { e: { f: 1 } } } } } };
    expect(JSON.stringify(clean(deep).value)).toContain('[TOO DEEP]');
    expect(clean({ list: Array.from({ length: 50 }, (_, n) => n) }).value).toEqual({
      list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    });
    expect(clean({ text: 'x'.repeat(5_000) })).toMatchObject({ value: { truncated: true }, changed: true });
  });

  it('never holds a planted secret, is never larger than allowed, and can be cleaned again without change', () => {
    const texts = fc.oneof(fc.string(), fc.constant(secret), fc.constant(`Bearer ${'z'.repeat(30)}`));
    const documents = fc.dictionary(texts, fc.anything({ values: [texts], withNullPrototype: false, key: texts }));
    fc.assert(
      fc.property(documents, (document) => {
        const { value } = clean(JSON.parse(JSON.stringify(document)));
        const text = JSON.stringify(value);
        expect(text).not.toContain(secret);
        expect(text).not.toContain('z'.repeat(30));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bounds.bytes);
      }),
    );
  });
});
