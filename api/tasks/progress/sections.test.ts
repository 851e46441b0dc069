import fc from 'fast-check';
import { readLines } from './fences';
import { appendToSection } from './sections';

/** The texts of the headings of the second level. */
const sectionsOf = (markdown: string): string[] =>
  readLines(markdown).lines.flatMap(({ text, fenced }) =>
    !fenced && text.startsWith('## ') ? [text.slice(3).trimEnd()] : [],
  );

describe('progress sections', () => {
  it('makes the heading when there is none', () => {
    expect(appendToSection('', { section: 'Done', addition: 'first' })).toBe('## Done\n\nfirst\n');
    expect(appendToSection('# Title\n\nintro\n\n\n', { section: 'Done', addition: 'first\n' })).toBe(
      '# Title\n\nintro\n\n## Done\n\nfirst\n',
    );
  });

  it('adds to the end of the section, before the next one', () => {
    const before = '## Done\n\none\n\n### Detail\n\ntwo\n\n## Next\n\nthree\n';
    expect(appendToSection(before, { section: 'Done', addition: '- four' })).toBe(
      '## Done\n\none\n\n### Detail\n\ntwo\n\n- four\n\n## Next\n\nthree\n',
    );
    expect(appendToSection(before, { section: 'Next', addition: 'four' })).toBe(`${before}\nfour\n`);
    expect(appendToSection('## A\n\n# B\n', { section: 'A', addition: 'a' })).toBe('## A\n\na\n\n# B\n');
  });

  it('takes no line of code for a heading', () => {
    const before = '## Done\n\n```sh\n## Next\necho\n```\n';
    expect(appendToSection(before, { section: 'Next', addition: 'x' })).toBe(`${before}\n## Next\n\nx\n`);
    expect(appendToSection(before, { section: 'Done', addition: 'x' })).toBe(`${before}\nx\n`);
  });

  it.each([
    ['in what is added', '## A\n\na\n\n## B\n\nb\n', '~~~~\n## B'],
    ['in what is there', '## A\n\n```js\n## B', 'text'],
  ])('closes a block of code that is left open %s', (_case, before, addition) => {
    const after = appendToSection(before, { section: 'A', addition });
    expect(readLines(after).open).toBeUndefined();
    expect(sectionsOf(appendToSection(after, { section: 'B', addition: 'more' }))).toEqual(['A', 'B']);
  });

  it('keeps the indentation of what is added', () => {
    expect(appendToSection('', { section: 'A', addition: '\n  \n    code\n' })).toBe('## A\n\n    code\n');
  });

  it('keeps every section and everything that was added, whatever is written', () => {
    const section = fc.constantFrom('Done', '## Done', 'Next #', '```', '- x', '   spaced   ');
    const content = fc
      .array(fc.constantFrom('word', '## Done', '# Top', '```', '```js', '~~~', '', '  indented'), { minLength: 1 })
      .map((lines) => lines.join('\n'))
      .filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.array(fc.tuple(section, content), { maxLength: 8 }), (entries) => {
        let markdown = '';
        for (const [name, text] of entries) {
          const before = sectionsOf(markdown);
          markdown = appendToSection(markdown, { section: name, addition: text });
          expect(markdown).toContain(text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd());
          expect(sectionsOf(markdown)).toEqual(expect.arrayContaining([...before, name.trim()]));
          expect(readLines(markdown).open).toBeUndefined();
        }
      }),
    );
  });
});
