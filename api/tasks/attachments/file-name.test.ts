import fc from 'fast-check';
import { cleanFileName, extensionOf } from './file-name';

const hostile = fc
  .array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('/', '\\', '..', '.', '\u202e', '\0', '\n', '.tar.gz')),
  )
  .map((parts) => parts.join(''));

describe('a cleaned name', () => {
  it('is one visible path segment of bounded length, and cleaning it again changes nothing', () => {
    fc.assert(
      fc.property(hostile, (name) => {
        const cleaned = cleanFileName(name);
        expect(cleaned).toMatch(/^[^\\/<>:"|?*\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u);
        expect(cleaned).not.toMatch(/^\.|\.$/);
        expect(cleanFileName(cleaned)).toBe(cleaned);
      }),
    );
  });

  it('begins and ends with no space or dot, however long the name is', () => {
    const long = 'x'.repeat(300);
    for (const gap of [' '.repeat(900), '.'.repeat(900), ' '.repeat(16_000)]) {
      expect(cleanFileName(`a${gap}b.pdf`)).toMatch(/^a[ .]+\.pdf$/);
      expect(cleanFileName(`${gap}${long}.pdf`)).toBe(`${long.slice(0, 196)}.pdf`);
      expect(cleanFileName(`${long}${gap}`)).toBe(long.slice(0, 200));
      expect(cleanFileName(`a${gap}-`)).toBe('a');
    }
  });

  it('keeps what is a name already', () => {
    for (const name of ['report.pdf', 'Übersicht 2026.xlsx', '図.png', 'no-extension', 'a.tar.gz', '👩‍🚀'.normalize()]) {
      expect(cleanFileName(name)).toBe(name.replace('\u200d', ''));
    }
  });
});

it.each([
  ['a.PDF', 'pdf'],
  ['a.tar.gz', 'gz'],
  ['a', ''],
  ['a.', ''],
  ['a.é', ''],
  ['a.pdf ', ''],
])('the extension of %j is %j', (name, extension) => {
  expect(extensionOf(name)).toBe(extension);
});
