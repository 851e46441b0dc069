import { previewOf, titleOf } from './brief';

describe('session brief', () => {
  it.each([
    ['  How do I   bake\nbread?  ', 'How do I bake bread?'],
    ['x'.repeat(60), 'x'.repeat(60)],
    [`${'word '.repeat(11)}beyond the end`, `${'word '.repeat(10)}word…`],
    [`${'x'.repeat(60)} y`, `${'x'.repeat(60)}…`],
    ['y'.repeat(80), `${'y'.repeat(60)}…`],
    [`a ${'z'.repeat(80)}`, `a ${'z'.repeat(58)}…`],
    [`${'x'.repeat(59)}😀 and more`, `${'x'.repeat(59)}…`],
  ])('makes a title of %p', (text, title) => {
    expect(titleOf(text)).toBe(title);
  });

  it('previews a hundred characters', () => {
    expect(previewOf('p'.repeat(100))).toBe('p'.repeat(100));
    expect(previewOf('p'.repeat(101))).toBe(`${'p'.repeat(100)}…`);
  });
});
