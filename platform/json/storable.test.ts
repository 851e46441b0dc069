import { JsonLimitError } from './bounded';
import { parseStorableJson } from './storable';

describe('JSON for a record', () => {
  it('has what JSON has, and whole characters', () => {
    expect(parseStorableJson('{"a.b": ["\\\\u0000", "\\ud83d", 1e-7], "$c": null}')).toEqual({
      'a.b': ['\\u0000', '\ufffd', 1e-7],
      $c: null,
    });
    expect(() => parseStorableJson('{')).toThrow(SyntaxError);
  });

  it.each([
    ['nested too deep', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['with NUL in a text', '["\\u0000"]'],
    ['with NUL in a name', '{"\\\\\\u0000": 1}'],
    ['with the name of a prototype', '{"__proto__": {}}'],
  ])('is refused %s', (_what, text) => {
    expect(() => parseStorableJson(text)).toThrow(JsonLimitError);
  });
});
