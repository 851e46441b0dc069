import { findTooDeep, maxJsonDepth } from './depth';

const nested = (levels: number, list = false): unknown => {
  let value: unknown = list ? [] : {};
  for (let level = 1; level < levels; level += 1) {
    value = list ? [value] : { a: value };
  }
  return value;
};

describe('depth of JSON', () => {
  it.each([null, 'text', 1, {}, [], { a: [{ b: null }] }, nested(maxJsonDepth), nested(maxJsonDepth, true)])(
    'lets a shallow value through',
    (value) => expect(findTooDeep(value)).toBeUndefined(),
  );

  it('names the beginning of the path to a value that is too deep', () => {
    expect(findTooDeep({ x: 1, metadata: [{ b: {} }] }, 3)).toBe('metadata.0.b');
    expect(findTooDeep(nested(maxJsonDepth + 1))).toBe('a.a.a.a.a.a.a.a…');
  });

  it('needs no stack for half a million levels', () => {
    expect(findTooDeep(JSON.parse('['.repeat(500_000) + ']'.repeat(500_000)))).toMatch(/^0\.0/);
  });
});
