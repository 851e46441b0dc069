import fc from 'fast-check';
import { DocumentError, readDocument, writeDocument } from './document';

describe('a document', () => {
  it('is read as YAML or JSON', () => {
    expect(readDocument('name: Team\nmembers:\n  - id: a\n    on: true\n')).toEqual({
      name: 'Team',
      members: [{ id: 'a', on: true }],
    });
    expect(readDocument('{"a": [1, null]}', 'json')).toEqual({ a: [1, null] });
    expect(readDocument('{"a": [1, null]}')).toEqual({ a: [1, null] });
  });

  it.each([
    ['aliases', 'a: &x [1]\nb: *x\n', /aliases/],
    ['a bomb', ['a: &a [x,x]', 'b: &b [*a,*a]', 'c: &c [*b,*b]'].join('\n'), /aliases/],
    ['a field twice', 'a: 1\na: 2\n', /twice/],
    ['a name everything inherits', '__proto__:\n  admin: true\n', /__proto__/],
    ['a name everything inherits, further down', 'a:\n  - __proto__: {}\n', /__proto__/],
    ['a list', '- a\n', /name: value/],
    ['nothing', '', /name: value/],
    ['a tag', 'a: !!js/function "x"\n', /tag/i],
    ['several documents', 'a: 1\n---\nb: 2\n', /document/],
    ['too many levels', `a: ${'['.repeat(500)}${']'.repeat(500)}`, /levels/],
    ['too many entries', `a: [${'1,'.repeat(60_000)}1]`, /entries/],
    ['a field name that is a map', '{a: 1}: b', /field name/],
  ])('is refused with %s', (_case, text, reason) => {
    expect(() => readDocument(text)).toThrow(DocumentError);
    expect(() => readDocument(text)).toThrow(reason);
  });

  it.each([
    ['no JSON', '{', /not JSON/],
    ['a name everything inherits', '{"__proto__": {"admin": true}}', /__proto__/],
  ])('is refused as JSON with %s', (_case, text, reason) => {
    expect(() => readDocument(text, 'json')).toThrow(reason);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('reads what was written, in both formats', () => {
    const name = fc.string({ maxLength: 20 }).filter((text) => text !== '__proto__');
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      map: fc.dictionary(name, tie('any'), { maxKeys: 4 }),
    })).map;
    fc.assert(
      fc.property(value, fc.constantFrom('yaml' as const, 'json' as const), (document, format) => {
        const plain: object = JSON.parse(JSON.stringify(document));
        expect(readDocument(writeDocument(plain, format), format)).toEqual(plain);
      }),
    );
  });
});
